package upgrade

import (
	"context"

	"berth/upgrade/ledger"
	"berth/upgrade/queues"
)

// Queues tells operators of the lines in which calls wait, and lets them pause one.
type Queues struct{ ledger *ledger.Ledger }

// Line returns the ids of the tasks that wait in a line, as task.QueueName names it, in the order of their
// turns. The error wraps storage.ErrUnavailable.
func (q *Queues) Line(ctx context.Context, name string) (ids []string, err error) {
	waiting, err := q.ledger.Queues.Waiting(ctx, name)
	for _, turn := range waiting {
		ids = append(ids, turn.ID)
	}
	return ids, err
}

// Awaited returns the queues, by Terms.Queue, in which calls wait that this process holds.
func (q *Queues) Awaited() []string { return q.ledger.Queues.Awaited() }

// Running counts the calls of a queue that are under way at an upstream. The error wraps
// storage.ErrUnavailable.
func (q *Queues) Running(ctx context.Context, queue, upstream string) (int, error) {
	listing, err := q.ledger.Store.Listing(ctx, q.ledger.Lists.SlotsOf(queue, upstream), 0)
	return listing.Size, err
}

// Pauses are the queues that are paused, by Terms.Queue. The error wraps storage.ErrUnavailable.
func (q *Queues) Pauses(ctx context.Context) (map[string]queues.Pause, error) {
	return q.ledger.Pauses.All(ctx)
}

// Pause has no berth send calls of a queue any more, within queues.PauseFresh. What runs goes on, and what
// comes queues. One that is paused stays as it is. The error wraps storage.ErrUnavailable.
func (q *Queues) Pause(ctx context.Context, queue, by string) error {
	return q.setPause(ctx, queue, queues.Pause{Since: q.ledger.Clock.Now(), By: by})
}

// Resume ends a pause. The error is that of Pause.
func (q *Queues) Resume(ctx context.Context, queue string) error {
	return q.setPause(ctx, queue, queues.Pause{})
}

func (q *Queues) setPause(ctx context.Context, queue string, pause queues.Pause) error {
	err := q.ledger.Pauses.Set(ctx, queue, pause)
	if err == nil {
		q.ledger.Notices.Tell(ctx, queues.PausesTopic, ledger.QueueTopic(queue)) // the others look by themselves
	}
	return err
}
