package adminapi

import (
	"context"
	"errors"

	"berth/internal/api"
	"berth/internal/drain"
	"berth/sticky"
	"berth/upgrade"
)

// Work is what is told of tasks, sessions, subscriptions and queues, and how orders about them are given.
// What is nil is not to be had; without Bindings nothing is told.
type Work struct {
	Bindings *sticky.Bindings
	IDs      *drain.IDs            // shows ids of tasks
	Tasks    func() *upgrade.Tasks // of berth's own making; nil: no rule has made any
	Rules    func() upgrade.Rules  // that are in force

	// CancelTask has an upstream give up a task of its own. The error is ErrNotCancelled or wraps it, or says
	// why there was no answer.
	CancelTask func(ctx context.Context, pool, upstream, id string) error

	// Subscriptions are those at this berth.
	Subscriptions func() []api.Subscription
}

// ErrNotCancelled is why an upstream's own task is not cancelled: what wraps it says more.
var ErrNotCancelled = errors.New("adminapi: the upstream has not cancelled the task")

// upgraded are the tasks of berth's own making; nil: there are none.
func (w *Work) upgraded() *upgrade.Tasks {
	if w.Tasks == nil {
		return nil
	}
	return w.Tasks()
}
