package ledger

import (
	"context"
	"errors"
	"sync"
	"time"

	"berth/internal/renewal"
	"berth/internal/storage"
)

// ErrLeaseLost says that the store had forgotten the lease: it had run out, or was lost.
var ErrLeaseLost = errors.New("upgrade: the lease was lost")

// Lease proves to others that this process lives. It is the one heartbeat of the process,
// however many calls it holds.
type Lease struct {
	lists  Lists
	holder string
	life   time.Duration
	word   func(ctx context.Context) (Word, error)
	record *renewal.Record
	turn   chan struct{} // holds one while the fields of the next group are in use

	listed   bool      // the holder has been, since the lease was begun
	lost     bool      // it was begun anew, and nobody was told
	resigned bool      // it is not renewed any more
	taken    time.Time // when the renewal began that the store took last
	last     attempt
	chain    time.Time // since when it was taken again and again, by the store's clock

	mu    sync.Mutex // guards the fields below
	until time.Time  // when it runs out, at the earliest
	tried time.Time  // when it was renewed last, or was to be
	woke  time.Time  // when it was for the first time in longer than it lives
	slept spell      // in which it stood before that
}

// spell is a time in which a lease stood without a break.
type spell struct{ from, until time.Time }

// attempt is a renewal that was tried, and what came of it.
type attempt struct {
	began time.Time
	err   error
}

func newLease(l Lists, holder string, life time.Duration, w func(context.Context) (Word, error)) *Lease {
	return &Lease{lists: l, holder: holder, life: life, word: w, record: renewal.NewRecord(l.store, l.LeaseOf(holder), life), turn: make(chan struct{}, 1)}
}

// fresh reports whether the lease stands for certain, unless the store has lost it.
func (l *Lease) fresh() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Before(l.until)
}

// try notes that the lease is about to be renewed, and returns when that is.
func (l *Lease) try() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if !l.tried.IsZero() && now.Sub(l.tried) > l.life {
		l.slept, l.woke = spell{l.woke, l.until}, now
	}
	l.tried = now
	return now
}

// Slept reports whether this process stood still since then for longer than its lease
// lives: others may have gone on with what it held. An outage of the store is no sleep:
// nobody could.
func (l *Lease) Slept(since time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return since.Before(l.woke) || !l.tried.IsZero() && time.Since(l.tried) > l.life
}

// StoodUntil is when the lease of this process, which may have stood still since, ran out for the first time from then
// on, at the earliest: until then others have gone on with nothing that it held.
func (l *Lease) StoodUntil(from time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !from.Before(l.woke):
		return l.until
	case !from.Before(l.slept.from):
		return l.slept.until
	}
	return from
}

// Renew keeps the lease. It fails with ErrLeaseLost if others may have taken this process
// for dead meanwhile, and with ErrDraining once it was given up. Of those that wait for their turn one renews it for all.
func (l *Lease) Renew(ctx context.Context) error {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	came := time.Now()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-l.turn }()
	if l.resigned {
		return ErrDraining
	}
	if l.last.began.After(came) {
		return l.last.err
	}
	began := l.try()
	if err := l.write(ctx); err != nil {
		if ctx.Err() == nil { // else it says less of the store than of who asked
			l.last = attempt{began, err}
		}
		return err
	}
	l.last = attempt{began, nil}
	l.mu.Lock()
	l.until = began.Add(l.life)
	l.mu.Unlock()
	if l.lost {
		l.lost = false
		return ErrLeaseLost
	}
	return nil
}

// write writes the lease anew. Where there is none the holder is listed before it begins,
// so that whoever sees it run out finds the name, and once more after that: a reaper may
// just have removed it.
func (l *Lease) write(ctx context.Context) error {
	first, began := !l.record.IsBegun(), time.Now()
	w, err := l.word(ctx)
	if err != nil {
		return err
	}
	if !first && began.Sub(l.taken) > reach(l.life) {
		l.chain = w.Said // what was meanwhile, this process has not seen
	}
	w.Since = later(w.Since, l.chain)
	err = l.record.Renew(ctx, w.encode(l.holder, l.life))
	if errors.Is(err, storage.ErrNotFound) {
		l.listed, l.lost = false, l.lost || !first
		if !first {
			l.chain, w.Since = w.Said, w.Said
		}
		if err := l.lists.AddHolder(ctx, l.holder); err != nil {
			return err
		}
		err = l.record.Begin(ctx, w.encode(l.holder, l.life))
	}
	if err != nil {
		return err
	}
	l.taken = began
	if !l.listed {
		err = l.lists.AddHolder(ctx, l.holder)
		l.listed = err == nil
	}
	return err
}

// Resign gives the lease up for good: what this process still holds is for others to see
// to.
func (l *Lease) Resign(ctx context.Context) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
		l.resigned = true
		_ = l.lists.store.Delete(ctx, l.lists.LeaseOf(l.holder)) // else it runs out
	case <-ctx.Done():
	}
}

// Stands reports whether a holder has a lease.
func (l Lists) Stands(ctx context.Context, holder string) (bool, error) {
	_, err := l.store.Get(ctx, l.LeaseOf(holder))
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// CouldRenew reports whether the store takes writes where the lease of a holder stands: one of its servers may refuse them while the
// others take all.
func (l Lists) CouldRenew(ctx context.Context, holder string) bool {
	return l.store.Put(ctx, l.askedFor(holder), nil, time.Millisecond) == nil
}

// AddHolder lists a holder until a reaper has seen to it.
func (l Lists) AddHolder(ctx context.Context, holder string) error {
	return l.store.AddMember(ctx, l.Holders(), holder, 0, 0)
}
