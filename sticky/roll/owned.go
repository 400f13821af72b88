package roll

import (
	"context"
	"time"

	"berth/internal/storage"
	"berth/sticky/binding"
)

// Owned is what an upstream owns.
type Owned struct {
	Tasks    int // that have not ended, or whose result nobody was given
	Sessions int // that have neither ended nor idled out
	// TasksUntil and SessionsUntil are when the last of them may be forgotten; zero: there is none.
	TasksUntil, SessionsUntil time.Time
	Counted                   time.Time // when the store was asked: what was bound before is in it
}

// Census reads the lists of what upstreams own. Its methods may be called concurrently.
type Census struct {
	store   *storage.Store
	missing missing
}

// NewCensus reads lists in store.
func NewCensus(store *storage.Store) *Census { return &Census{store: store} }

// Owned counts what an upstream owns. The error wraps storage.ErrUnavailable or is ctx's.
func (c *Census) Owned(ctx context.Context, pool, upstream string) (o Owned, err error) {
	counted := time.Now()
	tasks, err := c.store.Listing(ctx, Key{binding.Task, pool, upstream}.List(), 0)
	if err != nil {
		return Owned{}, err
	}
	sessions, err := c.store.Listing(ctx, Key{binding.Session, pool, upstream}.List(), 0)
	if err != nil {
		return Owned{}, err
	}
	return Owned{Tasks: tasks.Size, Sessions: sessions.Size, TasksUntil: until(tasks), SessionsUntil: until(sessions), Counted: counted}, nil
}

// until is when the last one of a list expires; zero: it is empty.
func until(l storage.Listing) (last time.Time) {
	if l.Last > 0 {
		last = time.Now().Add(l.Last)
	}
	return last
}
