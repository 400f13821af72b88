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

// Polls counts in memory what clients ask. A poll that is counted costs a look-up, no more.
type Polls struct{ by *lru.Cache[string, *polled] }

type polled struct{ count, last atomic.Int64 }

func newPolls() *Polls {
	by, _ := lru.New[string, *polled](polledTasks) // it fails for a size below one
	return &Polls{by}
}

// Note notes that a client was told of a task.
func (p *Polls) Note(id string) {
	one, known := p.by.Get(id)
	if !known {
		one = new(polled)
		if before, found, _ := p.by.PeekOrAdd(id, one); found {
			one = before
		}
	}
	one.count.Add(1)
	one.last.Store(time.Now().UnixMilli())
}

// Of tells how often clients were told of a task by this berth, as far as it remembers.
func (p *Polls) Of(id string) Polled {
	one, known := p.by.Peek(id)
	if !known {
		return Polled{}
	}
	return Polled{one.count.Load(), time.UnixMilli(one.last.Load()).UTC()}
}
