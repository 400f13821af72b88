package queues

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/internal/timed"

	"golang.org/x/sync/singleflight"
)

// PauseFresh is how long it counts what was read of pauses: a berth goes by one after that, heard it of it
// or not.
const PauseFresh = time.Second

// Pause is an operator's order that no call of a queue be sent.
type Pause struct {
	Since time.Time `json:"since"`
	By    string    `json:"by,omitempty"`
}

// Pauses are the queues that are paused: one record for all berths, for good. It is read when a call is
// about to take a place, once a second at most.
type Pauses struct {
	store   Store
	within  time.Duration // bounds one reading
	reading singleflight.Group

	mu    sync.Mutex // guards the fields below
	known map[string]Pause
	at    time.Time // when that was asked for; zero: it is to be asked for anew
}

// NewPauses returns the pauses in a store, of which one reading ends within that time.
func NewPauses(s Store, within time.Duration) *Pauses { return &Pauses{store: s, within: within} }

// PausesTopic is the name under which pauses are told of.
const PausesTopic = "pauses"

const (
	pausesKey    = "upgrade:pauses"
	pausesFormat = 1
)

type storedPauses struct {
	Format int              `json:"v"`
	Queues map[string]Pause `json:"queues"`
}

// maxRaces bounds how often a writer begins anew because another one was first.
const maxRaces = 32

// Has reports whether a queue is paused, by what the store said last where it does not say. It fails if it
// never did.
func (p *Pauses) Has(ctx context.Context, queue string) (bool, error) {
	all, err := p.All(ctx)
	_, has := all[queue]
	return has, err
}

// All returns those that stand, as Has does. The map is shared.
func (p *Pauses) All(ctx context.Context) (map[string]Pause, error) {
	p.mu.Lock()
	known, fresh := p.known, time.Since(p.at) < PauseFresh
	p.mu.Unlock()
	if fresh {
		return known, nil
	}
	found, err, _ := p.reading.Do("", func() (any, error) {
		began := time.Now()
		ctx, cancel := timed.Within(context.WithoutCancel(ctx), p.within)
		defer cancel()
		stands, _, err := p.read(ctx)
		if err != nil && known != nil {
			stands, err = known, nil // and it is asked again
			return stands, err
		}
		if err == nil {
			p.keep(stands, began)
		}
		return stands, err
	})
	if err != nil {
		return nil, err
	}
	return found.(map[string]Pause), nil
}

// Count is how many were known last. It waits for nobody: where that was a while ago, they are read beside it for who asks next.
func (p *Pauses) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.at) >= PauseFresh {
		go func() { _, _ = p.All(context.Background()) }()
	}
	return len(p.known)
}

func (p *Pauses) keep(stands map[string]Pause, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known, p.at = stands, at
}

// Changed has them be read anew by the next who asks: another process has changed them.
func (p *Pauses) Changed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading.Forget("")
	p.at = time.Time{}
}

// read returns those that stand, and the version of their record; 0: there is none.
func (p *Pauses) read(ctx context.Context) (map[string]Pause, uint64, error) {
	record, err := p.store.Get(ctx, pausesKey)
	if errors.Is(err, storage.ErrNotFound) {
		return map[string]Pause{}, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	var stored storedPauses
	if err := json.Unmarshal(record.Value, &stored); err != nil || stored.Format != pausesFormat {
		return nil, 0, fmt.Errorf("%w: the pauses of queues are of a newer berth", storage.ErrUnavailable)
	}
	if stored.Queues == nil {
		stored.Queues = map[string]Pause{}
	}
	return stored.Queues, record.Version, nil
}

// Set pauses a queue, or with the zero Pause resumes it. One that is paused stays as it is. The error wraps
// storage.ErrUnavailable.
func (p *Pauses) Set(ctx context.Context, queue string, pause Pause) error {
	for range maxRaces {
		stands, version, err := p.read(ctx)
		if err != nil {
			return err
		}
		if _, has := stands[queue]; has != pause.Since.IsZero() {
			p.keep(stands, time.Now())
			return nil
		}
		next := maps.Clone(stands)
		if next[queue] = pause; pause.Since.IsZero() {
			delete(next, queue)
		}
		value, _ := json.Marshal(storedPauses{pausesFormat, next}) // strings and times always marshal
		made := true
		if version > 0 {
			_, err = p.store.Swap(ctx, pausesKey, version, value, 0)
		} else {
			_, made, err = p.store.PutIfAbsent(ctx, pausesKey, value, 0)
		}
		switch {
		case err == nil && made:
			p.keep(next, time.Now())
			return nil
		case err == nil, errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrNotFound): // another order was first
		default:
			return fmt.Errorf("upgrade: pausing a queue: %w", err)
		}
	}
	return fmt.Errorf("upgrade: pausing a queue: %w: others were first again and again", storage.ErrUnavailable)
}
