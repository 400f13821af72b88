package held

import (
	"context"
	"time"

	"berth/internal/relay"
)

// marks tell berths which of them has a call that has asked: the one that took its last round. A
// store that is not shared needs none.
type marks struct {
	store relay.Store // nil: there are no other berths
	name  string      // of this berth
}

// markTime bounds what a mark may hold a round up.
const markTime = 250 * time.Millisecond

func (m marks) shared() bool { return m.store != nil && m.store.Shared() }

func (m marks) key(id string) string { return "bridge:" + id }

// Topic is where a berth says which call it has taken on that another one had: its id.
const Topic = "bridge:taken"

// take notes for life that this berth has a call, and tells the others of it if another one had it. Where the store does not take that,
// the berth that asked may give the call up when its client had been thought gone: a failed call, and none that ran twice.
func (m marks) take(ctx context.Context, id string, life time.Duration, fromAnother bool) {
	if !m.shared() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), markTime)
	defer cancel()
	if m.store.Put(ctx, m.key(id), []byte(m.name), life) == nil && fromAnother {
		_ = m.store.Notify(ctx, Topic, id) // who does not hear it looks as the client's time is over
	}
}

// isOthers reports whether another berth has taken a call since.
func (m marks) isOthers(ctx context.Context, id string) bool {
	if !m.shared() {
		return false
	}
	record, err := m.store.Get(ctx, m.key(id))
	return err == nil && string(record.Value) != m.name
}
