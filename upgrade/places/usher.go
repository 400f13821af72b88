package places

import (
	"cmp"
	"context"
	"time"

	"berth/upgrade/ledger"
	"berth/upgrade/queues"
	"berth/upgrade/task"
)

// Every is how often calls that wait look for a place, those whose turn it is, whether
// anybody told them of one or not.
const Every = time.Second

// Await has a task's call be woken when it is to look for a place. Who is the first to wait in a line
// brings an usher along, one for all who come.
func (p *Places) Await(t *task.Task) (w *queues.Waits, woken <-chan struct{}, stop func()) {
	w, woken, first := p.ledger.Queues.Await(t.QueueName(), t.ID, t.Terms.Slots)
	upstreams := func() int { return Choices(p.pools.Get(t.Pool).Routing, t) }
	if first {
		freed, unwatch := p.ledger.Notices.Watch(ledger.QueueTopic(t.Terms.Queue))
		go func() {
			defer unwatch()
			usher(w, freed, upstreams)
		}()
	}
	return w, woken, func() { w.Leave(t.ID, upstreams()) }
}

// usher calls those who wait in a line, the first first, as long as anybody does: when a place is free
// and every now and then.
func usher(w *queues.Waits, freed <-chan struct{}, upstreams func() int) {
	timer := time.NewTimer(Every)
	defer timer.Stop()
	for {
		select {
		case <-w.Over:
			return
		case <-freed:
		case <-timer.C:
		}
		again := w.Call(context.Background(), upstreams())
		timer.Reset(min(cmp.Or(again, Every), Every))
	}
}
