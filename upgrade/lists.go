package upgrade

import (
	"context"
	"fmt"
	"time"

	"berth/upgrade/task"
)

// lists are what can be found without knowing a task's id. An entry only says where to
// look: the record decides. It is made before the record that it is about, and goes
// after it.
type lists struct{ store store }

func (lists) holders() string                 { return "upgrade:holders" }
func (lists) leaseOf(holder string) string    { return "upgrade:holder:{" + holder + "}" }
func (lists) tasksOf(holder string) string    { return "upgrade:holder:{" + holder + "}:tasks" }
func (lists) changesFor(holder string) string { return "upgrade:holder:{" + holder + "}:mail" }

// liveOf lists the tasks of a principal that have not ended.
func (lists) liveOf(pool, principal string) string {
	return "upgrade:live:" + task.Digest(pool, principal)
}

// madeBy lists all tasks of a principal, those that have ended, too.
func (lists) madeBy(pool, principal string) string {
	return "upgrade:made:" + task.Digest(pool, principal)
}

// all lists the tasks of a store that one process has for itself.
func (lists) all() string { return "upgrade:tasks" }

// heldIn lists the tasks whose calls live in a session.
func (lists) heldIn(session string) string { return "upgrade:session:{" + session + "}" }

// asksIn lists what is asked in mid-call in an upstream's session.
func (lists) asksIn(behind string) string { return "upgrade:asks:" + behind }

// deliversOf lists the berth that tells of a task in a session.
func (lists) deliversOf(task, session string) string {
	return "upgrade:{" + task + "}:tells:" + session
}

// deliversIn lists the berth that tells how the tasks of a creator in a session fare.
func (lists) deliversIn(session, creator string) string {
	return "upgrade:session:{" + session + "}:tells:" + creator
}

// overKey marks a session that its client has ended.
func overKey(session string) string { return "upgrade:session:{" + session + "}:over" }

// slotsOf lists the places that are taken at an upstream.
func (lists) slotsOf(queue, upstream string) string {
	return "upgrade:slots:" + queue + ":" + task.Digest(upstream)
}

// placesOf begins the names of the places that a holder takes for a task. No two are
// named alike: what is given back late must not be what was taken since.
func placesOf(id, holder string) string { return id + " " + holder + " " }

// waitingIn lists the calls that wait for such a slot, by the names that turnOf gives.
func (lists) waitingIn(queue string) string { return "upgrade:queue:" + queue }

func (l lists) add(ctx context.Context, list, member string, life time.Duration, most int) error {
	// A life that is over by this process's clock must not become an endless one.
	err := l.store.Enlist(ctx, list, member, max(life, time.Second), most)
	if err != nil {
		return fmt.Errorf("upgrade: listing a task: %w", err)
	}
	return nil
}

// remove takes member out. What stays behind for an outage expires, or is found to be
// out of date by whoever reads it.
func (l lists) remove(ctx context.Context, list, member string) {
	_ = l.store.Delist(ctx, list, member)
}
