package ledger

import (
	"context"
	"fmt"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// Lists are what can be found without knowing a task's id. An entry only says where to
// look: the record decides. It is made before the record that it is about, and goes
// after it.
type Lists struct{ store Store }

// Holders lists the processes that a reaper has not seen to, LeaseOf is the lease of one,
// askedFor is written to find out whether it could be renewed, TasksOf lists its tasks, ChangesFor those that others have changed.
func (Lists) Holders() string                 { return "upgrade:holders" }
func (Lists) LeaseOf(holder string) string    { return "upgrade:holder:{" + holder + "}" }
func (Lists) askedFor(holder string) string   { return "upgrade:holder:{" + holder + "}:asked" }
func (Lists) TasksOf(holder string) string    { return "upgrade:holder:{" + holder + "}:tasks" }
func (Lists) ChangesFor(holder string) string { return "upgrade:holder:{" + holder + "}:mail" }

// LiveOf lists the tasks of a principal that have not ended.
func (Lists) LiveOf(pool, principal string) string {
	return "upgrade:live:" + task.Digest(pool, principal)
}

// MadeBy lists all tasks of a principal, those that have ended, too.
func (Lists) MadeBy(pool, principal string) string {
	return "upgrade:made:" + task.Digest(pool, principal)
}

// All lists the tasks of a store that one process has for itself.
func (Lists) All() string { return "upgrade:tasks" }

// HeldIn lists the tasks whose calls live in a session.
func (Lists) HeldIn(session string) string { return "upgrade:session:{" + session + "}" }

// AsksIn lists what is asked in mid-call in an upstream's session.
func (Lists) AsksIn(behind string) string { return "upgrade:asks:" + behind }

// deliversOf lists the berth that tells of a task in a session.
func (Lists) deliversOf(task, session string) string {
	return "upgrade:{" + task + "}:tells:" + session
}

// DeliversIn lists the berth that tells how the tasks of a creator in a session fare.
func (Lists) DeliversIn(session, creator string) string {
	return "upgrade:session:{" + session + "}:tells:" + creator
}

// OverKey marks a session that its client has ended.
func OverKey(session string) string { return "upgrade:session:{" + session + "}:over" }

// SlotsOf lists the places that are taken at an upstream.
func (Lists) SlotsOf(queue, upstream string) string {
	return "upgrade:slots:" + queue + ":" + task.Digest(upstream)
}

// PlacesOf begins the names of the places that a holder takes for a task. No two are
// named alike: what is given back late must not be what was taken since.
func PlacesOf(id, holder string) string { return id + " " + holder + " " }

// ToldTo lists the messages that a receiver is yet to be sent.
func (Lists) ToldTo(receiver string) string { return "upgrade:webhook:" + receiver }

// receivers lists the names of receivers that some berth's configuration names, or did a while ago.
func (Lists) receivers() string { return "upgrade:webhooks" }

// Add lists member for life, unless there are as many as most; 0 is any number. Then it fails
// with storage.ErrFull.
func (l Lists) Add(ctx context.Context, list, member string, life time.Duration, most int) error {
	err := l.store.AddMember(ctx, list, member, ended(life), most)
	if err != nil {
		return fmt.Errorf("upgrade: listing a task: %w", err)
	}
	return nil
}

// keeping is Add as a step, of a list that takes any number.
func keeping(list, member string, life time.Duration) storage.Step {
	return storage.Keeping(list, member, ended(life))
}

// ended is life as members have it: one that is over by this process's clock must not become an endless one.
func ended(life time.Duration) time.Duration { return max(life, time.Second) }

// Remove takes member out. What stays behind for an outage expires, or is found to be
// out of date by whoever reads it.
func (l Lists) Remove(ctx context.Context, list, member string) {
	_ = l.store.RemoveMember(ctx, list, member)
}
