package ledger

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// epochKey holds a name that lives as long as what the store holds: another one, or none,
// means that the store was flushed. With it stands when that was seen, by the store's clock.
const epochKey = "upgrade:epoch"

// Epoch tells whether a task that the store does not know does not exist. After a flush
// or a fail-over its holder may not have put it back yet, and "unknown" is final to
// clients.
type Epoch struct {
	store   Store
	clock   *Clock
	lists   Lists
	holder  string
	begun   time.Time
	Life    time.Duration // of a lease
	Woken   chan struct{} // holds one: the next beat is due at once
	Renewal chan struct{} // holds one: so is the next renewal of the lease

	mu           sync.Mutex // guards the fields below
	name         string
	distrustedTo time.Time
	flushedTo    time.Time // what was flushed may not be back before then
	awaited      awaited
	away         absence
	lost         time.Time // when the store may have lost something last; zero: not in this process's life
	told         time.Time // since when the store is well, by another's word; zero: nobody gave any
	given        time.Time // since when it was, by this process's own eyes, when that was given
}

// DistrustFor has the store's word not count until all holders had the time to put back what
// they hold.
func (e *Epoch) DistrustFor(span time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.distrustedTo = time.Now().Add(span)
}

// Return notes that the store is back, or another one in its place: what that has lost its holders put back.
func (e *Epoch) Return() {
	e.Lose()
	e.DistrustFor(e.Settling())
	e.mu.Lock()
	defer e.mu.Unlock()
	e.away.doubt(time.Now().Add(e.Settling()))
}

// Lose notes that the store may have lost what it held.
func (e *Epoch) Lose() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lose()
}

func (e *Epoch) lose() { e.lost, e.told = time.Now(), time.Time{} }

// take takes another's word for it that the store is well since then, unless this
// process has seen otherwise. It reports whether it did not know as much.
func (e *Epoch) take(since, seen time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.lost.IsZero() || !since.Before(seen) || !e.told.IsZero() && !since.Before(e.told) {
		return false
	}
	e.told, e.given = since, seen
	return true
}

// keptSince is since when the store has kept what it held, as far as this process knows. seen
// is since when it was healthy. A word that was given before an outage counts no more.
func (e *Epoch) keptSince(seen time.Time) time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !e.told.IsZero() && e.given.Equal(seen):
		return e.told
	case e.lost.After(seen):
		return e.lost
	}
	return seen
}

func (e *Epoch) distrusted() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	return now.Before(e.distrustedTo) || e.awaited.doubts(now)
}

// enter notes the epoch that stands, and reports whether there was another before: then the store was flushed.
func (e *Epoch) enter(epoch string) (changed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	changed = e.name != "" && e.name != epoch
	if changed {
		e.lose()
		e.flushedTo = e.lost.Add(e.Settling())
		e.awaited.begin(e.lost, e.lost.Add(e.Life+e.Settling()))
	}
	e.name = epoch
	return changed
}

// Miss says what it means that a task of the deployment was not found: ErrUnknown, or
// that nobody can say for now.
func (e *Epoch) Miss(ctx context.Context) error { return e.miss(ctx, e.distrusted) }

// MissKey is Miss for what a call is known by: where this process has seen the store flushed, or come back as another server,
// keys of running tasks may be lost. A store that is new to this process has lost nothing that it knows of.
func (e *Epoch) MissKey(ctx context.Context) error { return e.miss(ctx, e.keysDoubted) }

func (e *Epoch) miss(ctx context.Context, distrusted func() bool) error {
	if !e.store.Shared() {
		return ErrUnknown
	}
	if err := e.Check(ctx); err != nil {
		return err
	}
	if distrusted() {
		return storage.ErrUnavailable
	}
	return ErrUnknown
}

func (e *Epoch) keysDoubted() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := time.Now()
	return now.Before(e.flushedTo) || now.Before(e.away.doubtedTo) || e.awaited.doubts(now)
}

// Check finds out whether the store still holds what it held. If it was flushed, all
// that this process holds is put back.
func (e *Epoch) Check(ctx context.Context) error {
	record, err := e.store.Get(ctx, epochKey)
	fresh := errors.Is(err, storage.ErrNotFound)
	if fresh {
		record, err = e.begin(ctx)
	}
	if err != nil {
		return err
	}
	if changed := e.enter(string(record.Value)); changed || fresh {
		e.DistrustFor(e.Settling())
		e.WakeBeat()
	}
	return nil
}

// begin begins an epoch, unless another process was first, and returns the one that stands.
func (e *Epoch) begin(ctx context.Context) (storage.Record, error) {
	now, err := e.store.Now(ctx)
	if err != nil {
		return storage.Record{}, err
	}
	record, _, err := e.store.PutIfAbsent(ctx, epochKey, []byte(task.NewName(9)+" "+strconv.FormatInt(now.UnixMilli(), 10)), 0)
	return record, err
}

// WasFlushed reports whether the store was flushed last between these two times, as the timers of this process count. Of
// a flush that a berth of an older version was the first to see nobody knows when it was.
func (e *Epoch) WasFlushed(ctx context.Context, from, to time.Time) (bool, error) {
	if err := e.Check(ctx); err != nil {
		return false, err
	}
	if err := e.clock.Refresh(ctx); err != nil { // it may have been asked as this process fell asleep
		return false, err
	}
	e.mu.Lock()
	_, seen, known := strings.Cut(e.name, " ")
	e.mu.Unlock()
	ms, err := strconv.ParseInt(seen, 10, 64)
	if !known || err != nil {
		return false, nil
	}
	at := e.clock.Here(time.UnixMilli(ms))
	return !at.Before(from) && at.Before(to), nil
}

// CheckInTime is Check for a beat, which does not come again in time to put back
// what is lost: while the store is well, one reply that was late is asked for again.
func (e *Epoch) CheckInTime(ctx context.Context) (err error) {
	for range LooksAtOnce {
		if err = e.Check(ctx); err == nil || !e.store.Health().Healthy {
			return err
		}
	}
	return err
}

// Settling is how long holders may take to put back what a store has lost.
func (e *Epoch) Settling() time.Duration { return 2 * e.Beat() }

// Beat is how often a holder renews its lease, and looks for what nobody told it.
func (e *Epoch) Beat() time.Duration { return e.Life / 3 }

// PlacesKnown reports whether the store knows which places are taken: what it has lost,
// holders need a moment to put back. One that was not flushed, and is served by the server that served before, has lost none.
func (e *Epoch) PlacesKnown(ctx context.Context) bool {
	return !e.store.Shared() || e.Check(ctx) == nil && e.keepsPlaces()
}

func (e *Epoch) keepsPlaces() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.isLosing() || !e.away.same.Before(e.lost) && !time.Now().Before(e.flushedTo)
}

// isLosing reports whether holders may not have put back yet what the store may have lost.
func (e *Epoch) isLosing() bool { return !e.lost.IsZero() && time.Since(e.lost) < e.Settling() }

// WakeBeat has the next beat come at once.
func (e *Epoch) WakeBeat() { Signal(e.Woken) }

// LooksAtOnce is how often a beat compares one record until the store says what there is:
// others are told "unknown" once all holders have had two beats for it.
const LooksAtOnce = 3
