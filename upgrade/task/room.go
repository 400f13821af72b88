package task

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// MaxUnsaved bounds the bytes of results that are in memory and not in the store, unless Options
// say less.
const MaxUnsaved = 256 << 20

// roomEvery is how often who waits for room looks whether the store is well.
const roomEvery = 250 * time.Millisecond

// Unsaved are bytes of results, from when they are read until the store has them. One caller
// has half of the room; one answer alone may be of any size.
type Unsaved struct {
	most    int64
	healthy func() bool // whether the store is well, so that there will be room

	mu    sync.Mutex // guards the fields below
	n     int64
	by    map[string]int64
	freed chan struct{} // closed when some are given back
}

// NewUnsaved returns a count of at most so many bytes, 0: MaxUnsaved. While the store is not
// healthy nobody waits.
func NewUnsaved(most int64, healthy func() bool) *Unsaved {
	return &Unsaved{most: cmp.Or(most, MaxUnsaved), healthy: healthy, by: map[string]int64{}}
}

// Take counts n more bytes of a caller's if there is room for them. Else it returns a channel
// that is closed when another attempt is worth while.
func (u *Unsaved) Take(caller string, n int64) (wait <-chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	own := u.by[caller]
	if u.n > 0 && u.n+n > u.most || own > 0 && own+n > u.most/2 {
		if u.freed == nil {
			u.freed = make(chan struct{})
		}
		return u.freed
	}
	u.n += n
	u.by[caller] = own + n
	return nil
}

// Give counts n bytes of a caller's no more.
func (u *Unsaved) Give(caller string, n int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.n -= n
	if left := u.by[caller] - n; left > 0 {
		u.by[caller] = left
	} else {
		delete(u.by, caller)
	}
	if u.freed != nil {
		close(u.freed)
		u.freed = nil
	}
}

// Room is what of a held call's answer may be in memory. It is to be opened; a nil one is as large as it likes.
type Room struct {
	of      *Unsaved
	caller  string
	expires time.Time

	mu sync.Mutex // guards the field below
	n  int64
}

// Open has r be room for answers for a caller's task, among what is unsaved.
func (r *Room) Open(unsaved *Unsaved, caller string, expires time.Time) {
	r.of, r.caller, r.expires = unsaved, caller, expires
}

// Take waits until there is room for n bytes of an answer, which is to be all that may come:
// who waits has none. Those that were taken before count for it. While the store is well, what
// is in the way is on its way there; else it fails, or with ctx, or when the task expires.
func (r *Room) Take(ctx context.Context, n int64) error {
	if r == nil || r.has() {
		return nil
	}
	for {
		wait := r.of.Take(r.caller, n)
		if wait == nil {
			r.took(n)
			return nil
		}
		if !r.of.healthy() || time.Now().After(r.expires) {
			return ErrUnsaved
		}
		select {
		case <-wait:
		case <-time.After(roomEvery): // the store may go away meanwhile
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *Room) took(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n = n
}

func (r *Room) has() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n > 0
}

// Give gives the room back: the answer is not in memory any more.
func (r *Room) Give() {
	if r == nil {
		return
	}
	r.mu.Lock()
	n := r.n
	r.n = 0
	r.mu.Unlock()
	if n > 0 {
		r.of.Give(r.caller, n)
	}
}
