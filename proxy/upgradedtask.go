package proxy

import (
	"time"

	"berth/upgrade"
)

// upgradedTask is a task of berth's own making that a subscription listens to.
type upgradedTask struct {
	id      string
	poll    time.Duration // how often its clients are told to poll it
	expires time.Time     // as timers count
	told    telling       // what its client knows of it
	moved   bool          // there is something to tell of it already, or may be
}

// telling is what there is to tell of a task, without its times: a change of these alone
// is none to a client.
type telling struct {
	status  string
	message string
	place   int // in the queue, from 1; 0: in none

	// Of a task that waits for input: the round that asked, and how much is open. Within
	// a round that only gets less.
	round, open int
}

// asMade is what a client knows that was given a task's handle.
var asMade = telling{status: "working"}

// newUpgradedTask begins with what the record says. A task has moved if that is no more what
// its maker was told, or if it has a place in a queue.
func newUpgradedTask(record upgrade.Task, expires time.Time) *upgradedTask {
	task := &upgradedTask{id: record.ID, poll: record.Terms.PollInterval, expires: expires, told: asMade}
	task.moved = record.State == upgrade.Queued || task.next(upgrade.View{Task: record}) != asMade
	return task
}

// next is what there is to tell of the task as it is seen now. A place that nobody can
// tell now is no change.
func (task *upgradedTask) next(v upgrade.View) telling {
	now := telling{status: v.ExtensionStatus(), message: v.Message, place: v.Place}
	if v.State == upgrade.InputRequired {
		now.round, now.open = v.Round, len(v.Outstanding())
	}
	if v.State == upgrade.Queued && v.Place == 0 && task.told.status == now.status {
		now.message, now.place = task.told.message, task.told.place
	}
	return now
}
