package webhooks

import (
	"log/slog"
	"sync"
	"time"

	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// overflowEvery is how often the log tells, at most, that a receiver's messages find no room.
const overflowEvery = time.Minute

// overflow has the log told of messages that are not kept: of the first one at once, and of those that follow together. The zero value
// knows of none.
type overflow struct {
	mu     sync.Mutex // guards the field below
	untold map[string]*untold
}

// untold are those of one receiver since the log was last told.
type untold struct {
	messages int
	last     string // the task of the last one
}

// add counts a message.
func (o *overflow) add(log *slog.Logger, m task.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if u := o.untold[m.To]; u != nil {
		u.messages++
		u.last = m.Task
		return
	}
	if o.untold == nil {
		o.untold = map[string]*untold{}
	}
	o.untold[m.To] = &untold{messages: 1, last: m.Task}
	o.say(log, m.To)
}

// say tells of what is untold, and looks again in a while, until there is nothing. The caller has the lock.
func (o *overflow) say(log *slog.Logger, to string) {
	u := o.untold[to]
	if u.messages == 0 {
		delete(o.untold, to)
		return
	}
	log.Warn("a webhook message is not kept: its receiver is yet to be told too many", "webhook", to, "task", u.last, "messages", u.messages, "most", ledger.MaxMessages)
	u.messages = 0
	time.AfterFunc(overflowEvery, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.say(log, to)
	})
}
