package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
)

// secret is in requests and answers, and is not to be in the store.
const secret = "nobody-else-reads-this"

// world is a deployment: a store, and its berths.
type world struct {
	t      *testing.T
	store  *storage.Store
	keys   *seal.Keyring
	berths []*berth
	dies   bool // a berth does, so that something is left to expire

	mu      sync.Mutex // guards the fields below
	kept    *kept
	refused string          // where nothing is written
	seen    map[string]bool // keys and lists that were written
}

// left are the keys and lists that still stand.
func (w *world) left() (left []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key := range w.seen {
		if key == sinceKey {
			continue // it stays
		}
		_, err := w.store.Get(context.Background(), key)
		members, _ := w.store.Members(context.Background(), key)
		if err == nil || len(members) > 0 {
			left = append(left, key)
		}
	}
	slices.Sort(left)
	return left
}

// count is how many keys stand that begin so.
func (w *world) count(prefix string) (n int) {
	for _, key := range w.left() {
		if strings.HasPrefix(key, prefix) {
			n++
		}
	}
	return n
}

// flush empties the store.
func (w *world) flush() {
	_ = w.store.Delete(context.Background(), sinceKey)
	for _, key := range w.left() {
		_ = w.store.Delete(context.Background(), key)
		members, _ := w.store.Members(context.Background(), key)
		for _, member := range members {
			_ = w.store.RemoveMember(context.Background(), key, member)
		}
	}
}

func (w *world) note(key string, value []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[key] = true
	if w.kept != nil && w.kept.key == "" && strings.HasPrefix(key, w.kept.prefix) {
		w.kept.key, w.kept.value = key, bytes.Clone(value)
	}
	if bytes.Contains(value, []byte(secret)) {
		w.t.Errorf("%s holds a secret in plain", key)
	}
}

// kept is the first record with such a key that was written.
type kept struct {
	prefix, key string
	value       []byte
}

func (w *world) keep(prefix string) *kept {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = &kept{prefix: prefix}
	return w.kept
}

// refuse has the store take no record at that key; "": all are taken.
func (w *world) refuse(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = key
}

func (w *world) isRefused(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return key == w.refused
}

// line is a berth's way to the store.
type line struct {
	*storage.Store
	world *world
	slow  time.Duration // of each operation

	dead   atomic.Bool  // the process is
	cut    atomic.Bool  // nothing reaches the store
	muffle atomic.Bool  // notices are lost
	echo   atomic.Bool  // notices come three times
	mute   atomic.Int64 // so many of the next swaps are done and not acknowledged
	ops    atomic.Int64
	hears  atomic.Pointer[func(string)]  // who watches
	full   atomic.Bool                   // no record is written
	noEnd  atomic.Bool                   // nothing is removed
	noRead atomic.Bool                   // no record of what was read is taken
	thawed atomic.Pointer[chan struct{}] // closed with the end of a standstill; nil without one
}

var errDead = errors.New("this process is dead")

// Shared implements Store.
func (l *line) Shared() bool { return true }

func (l *line) freeze() {
	c := make(chan struct{})
	l.thawed.Store(&c)
}

func (l *line) thaw() { close(*l.thawed.Swap(nil)) }

func (l *line) do(ctx context.Context, f func() error) error {
	if c := l.thawed.Load(); c != nil {
		<-*c
	}
	l.ops.Add(1)
	if l.slow > 0 {
		<-time.After(l.slow)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case l.dead.Load():
		return errDead
	case l.cut.Load():
		<-time.After(100 * time.Millisecond)
		return fmt.Errorf("%w: the line is cut", storage.ErrUnavailable)
	}
	return f()
}

func (l *line) Get(ctx context.Context, key string) (r storage.Record, err error) {
	err = l.do(ctx, func() (err error) {
		r, err = l.Store.Get(ctx, key)
		return err
	})
	return r, err
}

func (l *line) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	l.world.note(key, value)
	if l.noRead.Load() && strings.HasPrefix(key, "relay:read:") {
		return fmt.Errorf("%w: refused", storage.ErrUnavailable)
	}
	return l.do(ctx, func() error { return l.Store.Put(ctx, key, value, ttl) })
}

func (l *line) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (r storage.Record, made bool, err error) {
	l.world.note(key, value)
	if l.full.Load() || l.world.isRefused(key) {
		return r, false, storage.ErrFull
	}
	err = l.do(ctx, func() (err error) {
		r, made, err = l.Store.PutIfAbsent(ctx, key, value, ttl)
		return err
	})
	return r, made, err
}

func (l *line) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (r storage.Record, err error) {
	if l.full.Load() || l.world.isRefused(key) {
		return r, storage.ErrFull
	}
	err = l.do(ctx, func() (err error) {
		r, err = l.Store.Swap(ctx, key, version, value, ttl)
		if l.mute.Add(-1) >= 0 {
			return fmt.Errorf("%w: no answer", storage.ErrUnavailable)
		}
		return err
	})
	return r, err
}

func (l *line) Delete(ctx context.Context, key string) error {
	if l.noEnd.Load() {
		return fmt.Errorf("%w: refused", storage.ErrUnavailable)
	}
	return l.do(ctx, func() error { return l.Store.Delete(ctx, key) })
}

func (l *line) AddMember(ctx context.Context, list, member string, ttl time.Duration, most int) error {
	l.world.note(list, nil)
	return l.do(ctx, func() error { return l.Store.AddMember(ctx, list, member, ttl, most) })
}

func (l *line) RemoveMember(ctx context.Context, list, member string) error {
	return l.do(ctx, func() error { return l.Store.RemoveMember(ctx, list, member) })
}

func (l *line) Members(ctx context.Context, list string) (members []string, err error) {
	err = l.do(ctx, func() (err error) {
		members, err = l.Store.Members(ctx, list)
		return err
	})
	return members, err
}

func (l *line) Notify(ctx context.Context, topic, message string) error {
	if l.muffle.Load() {
		return nil
	}
	return l.do(ctx, func() error { return l.Store.Notify(ctx, topic, message) })
}

// Watch hears some messages three times, and none once it has returned.
func (l *line) Watch(ctx context.Context, topic string, received func(string)) error {
	var echoes sync.WaitGroup
	defer echoes.Wait()
	l.hears.Store(&received)
	return l.Store.Watch(ctx, topic, func(message string) {
		if l.dead.Load() || l.cut.Load() || l.thawed.Load() != nil {
			return
		}
		received(message)
		for range 2 {
			if message != "" && l.echo.Load() {
				received(message)
				echoes.Go(func() {
					select {
					case <-time.After(3 * time.Second):
						received(message)
					case <-ctx.Done():
					}
				})
			}
		}
	})
}
