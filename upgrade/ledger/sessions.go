package ledger

import (
	"context"
	"errors"
	"math"
	"time"

	"berth/internal/storage"
)

// Sessions are the sessions of clients in which calls are held.
type Sessions struct {
	lists   Lists
	records Records
	notices *Notices
}

// SessionOver reports whether a session was ended by its client. The error wraps
// storage.ErrUnavailable.
func (s Sessions) SessionOver(ctx context.Context, session string) (bool, error) {
	_, err := s.lists.store.Get(ctx, OverKey(session))
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// InSession returns the ids of the tasks whose calls are held in a session. The error
// wraps storage.ErrUnavailable.
func (s Sessions) InSession(ctx context.Context, session string) ([]string, error) {
	var ids []string
	err := storage.EachPage(ctx, s.lists.store, s.lists.HeldIn(session), math.MaxInt, func(some []storage.Member) error {
		for _, member := range some {
			ids = append(ids, member.Name)
		}
		return nil
	})
	return ids, err
}

// Mine returns a page of a principal's tasks in a pool that have not expired, as storage.Page has pages.
// The error wraps storage.ErrUnavailable.
func (s Sessions) Mine(ctx context.Context, pool, principal, from string, most int) (storage.Page, error) {
	return s.lists.store.Page(ctx, s.lists.MadeBy(pool, principal), from, most)
}

// HoldsCalls reports whether a call is held in a session. What is listed and is none was left
// by a berth that died while it made a task, or took the end of one down.
func (s Sessions) HoldsCalls(ctx context.Context, session string) (bool, error) {
	listed, err := s.InSession(ctx, session)
	for _, id := range listed {
		e, err := s.records.Get(ctx, id)
		if err == nil && !e.State.Terminal() {
			return true, nil
		}
		if err != nil && !errors.Is(err, ErrUnknown) {
			return false, err
		}
	}
	return false, err
}

// ReviveSession takes back that a session has ended: its id was handed out again. The error
// wraps storage.ErrUnavailable.
func (s Sessions) ReviveSession(ctx context.Context, session string) error {
	return s.lists.store.Delete(ctx, OverKey(session))
}

// WatchSession returns a channel that holds a wake-up when something of a session's tasks
// may have changed, or the session has ended, until stop is called. Wake-ups may be lost
// between berths: look at the poll interval, too.
func (s Sessions) WatchSession(session string) (woken <-chan struct{}, stop func()) {
	return s.notices.Watch(SessionTopic(session))
}

// OverLife is how long a session that was ended is known to have been. Its upstream has
// forgotten it long before.
const OverLife = 24 * time.Hour
