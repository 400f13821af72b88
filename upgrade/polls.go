package upgrade

import (
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// polledTasks is of how many tasks a berth knows how often it was asked for them, those that were last.
const polledTasks = 10_000

// Polled is how often this berth has answered for a task, and when it did last.
type Polled struct {
	Count int64
	Last  time.Time
}

// polls counts in memory what clients ask. A poll that is counted costs a look-up, no more.
type polls struct{ by *lru.Cache[string, *polled] }

type polled struct{ count, last atomic.Int64 }

func newPolls() polls {
	by, _ := lru.New[string, *polled](polledTasks) // it fails for a size below one
	return polls{by}
}

// NotePoll notes that a client was told of a task.
func (t *Tasks) NotePoll(id string) {
	p, known := t.polls.by.Get(id)
	if !known {
		p = new(polled)
		if before, found, _ := t.polls.by.PeekOrAdd(id, p); found {
			p = before
		}
	}
	p.count.Add(1)
	p.last.Store(time.Now().UnixMilli())
}

// Polled tells how often clients were told of a task by this berth, as far as it remembers.
func (t *Tasks) Polled(id string) Polled {
	p, known := t.polls.by.Peek(id)
	if !known {
		return Polled{}
	}
	return Polled{p.count.Load(), time.UnixMilli(p.last.Load()).UTC()}
}
