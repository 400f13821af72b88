package bulletin

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"berth/internal/api"
	"berth/internal/storage"

	"golang.org/x/sync/errgroup"
)

const (
	fresh    = time.Second     // how long what was read is told again
	patience = 2 * time.Second // that the store has for all of it
	most     = 500             // berths that are read of
	atOnce   = 8               // reads
)

// All returns what all berths say of themselves that had something to say in the last 15 minutes: this
// one first, then the others by host and name. The error says that the store was not read: the others
// are as they were heard of last.
func (b *Board) All(ctx context.Context) ([]api.Berth, error) {
	b.hear(ctx)
	all, now := []api.Berth{b.Own()}, time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, w := range b.heard {
		if now.Sub(w.told) < life {
			all = append(all, b.judge(w, now))
		}
	}
	slices.SortFunc(all[1:], func(a, b api.Berth) int {
		return strings.Compare(a.Host+" "+a.Name, b.Host+" "+b.Name)
	})
	return all, b.failed
}

// judge says how a berth is by what it said last. b.mu is held.
func (b *Board) judge(w word, now time.Time) api.Berth {
	own, age := w.Berth, now.Sub(w.told)
	own.Told, own.Lease = w.told.UTC(), max(0, lease-age).Seconds()
	switch {
	case own.State == Gone:
		own.Lease = 0
	case w.dead, b.isDead(w, now):
		own.State, own.Ready = Dead, false
	}
	return own
}

// isDead reports whether a berth is dead that was not before. b.mu is held.
func (b *Board) isDead(w word, now time.Time) bool {
	return now.Sub(w.told) > lease && now.Sub(b.away) > lease
}

// hear reads what others say, unless that was done a moment ago.
func (b *Board) hear(ctx context.Context) {
	b.reading.Lock()
	defer b.reading.Unlock()
	b.mu.Lock()
	known := time.Since(b.read) < fresh
	b.mu.Unlock()
	if known {
		return
	}
	// Others are told the same: it is not for who asked first to break it off.
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	heard, err := b.readAll(limit)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read, b.failed = time.Now(), err
	if err != nil {
		b.away = b.read
		return
	}
	for i := range heard {
		w, before := &heard[i], b.before(heard[i])
		if before.told.Before(w.told) && !before.told.IsZero() {
			w.told = before.told // the store's clock went back since
		}
		w.dead = before.dead || b.isDead(*w, b.read)
	}
	b.heard = heard
}

// before is a word as it was read the last time; the zero word if it was another one. b.mu is held.
func (b *Board) before(now word) word {
	for _, w := range b.heard {
		if w.Name == now.Name && w.at == now.at {
			return w
		}
	}
	return word{}
}

func (b *Board) readAll(ctx context.Context) ([]word, error) {
	listing, err := b.o.Store.Listing(ctx, list, most)
	if err != nil {
		return nil, err
	}
	now, words := time.Now(), make([]*word, len(listing.Members))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, member := range listing.Members {
		if member.Name == b.o.Name {
			continue
		}
		group.Go(func() error {
			said, at, err := b.readOne(ctx, member.Name)
			if err == nil {
				words[i] = &word{Berth: said, at: at, told: now.Add(min(0, member.Left-life))}
			}
			if errors.Is(err, storage.ErrNotFound) || errors.As(err, new(*json.SyntaxError)) || errors.As(err, new(*json.UnmarshalTypeError)) {
				return nil // it has just run out, or is in the words of another version
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var heard []word
	for _, w := range words {
		if w != nil {
			heard = append(heard, *w)
		}
	}
	return heard, nil
}

func (b *Board) readOne(ctx context.Context, name string) (said api.Berth, at uint64, err error) {
	record, err := b.o.Store.Get(ctx, key(name))
	if err == nil {
		err = json.Unmarshal(record.Value, &said)
	}
	said.Name = name
	return said, record.Version, err
}
