package subscribe

import (
	"time"

	"berth/upgrade"
)

// ownTask is a task of berth's own making that a subscription listens to.
type ownTask struct {
	id      string
	poll    time.Duration // how often its clients are told to poll it
	expires time.Time     // as timers count
	known   summary       // to its client
	moved   bool          // there is something to tell of it already, or may be
}

// summary is what there is to tell of a task, without its times: a change of these alone
// is none to a client.
type summary struct {
	status  string
	message string
	place   int // in the queue, from 1; 0: in none
	paused  bool

	asked string // the step that its client is asked since, or for less; "": it waits for no input
}

// asMade is what a client knows that was given a task's handle.
var asMade = summary{status: "working"}

// newOwnTask begins with what the record says. A task has moved if that is no more what
// its maker was told, or if it has a place in a queue.
func newOwnTask(record upgrade.Task, expires time.Time) *ownTask {
	task := &ownTask{id: record.ID, poll: record.Terms.PollInterval, expires: expires, known: asMade}
	task.moved = record.State == upgrade.Queued || task.summary(upgrade.View{Task: record}) != asMade
	return task
}

// summary is what there is to tell of the task as it is seen now. A place that nobody can
// tell now is no change.
func (task *ownTask) summary(v upgrade.View) summary {
	now := summary{status: v.ExtensionStatus(), message: v.Message, place: v.Place, paused: v.Paused}
	if v.State == upgrade.InputRequired {
		now.asked = v.Ops[len(v.Ops)-1]
	}
	if v.State == upgrade.Queued && v.Place == 0 && task.known.status == now.status {
		now.message, now.place, now.paused = task.known.message, task.known.place, task.known.paused
	}
	return now
}
