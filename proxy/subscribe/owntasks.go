package subscribe

import (
	"cmp"
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/proxy/taskwatch"
	"berth/routing"
	"berth/upgrade"

	"golang.org/x/sync/errgroup"
)

// ownTasks is what is known of the tasks of berth's own making that a subscription names. A
// nil one names none.
type ownTasks struct {
	tasks  []*ownTask       // that are the caller's, in the order of the request
	others []string         // the ids of no such task
	watch  *taskwatch.Watch // of tasks
}

// findOwn finds the tasks of berth's own making that the subscription names. A
// client that does not take tasks is refused before any is looked up. The error wraps
// storage.ErrUnavailable if the store cannot tell whose a task is.
//
// Those that do not exist or are another's are left out, and not counted as unknown:
// such an id cannot be guessed.
func (s *Subscriptions) findOwn(r *Request) (*ownTasks, error) {
	if c := r.Single(); s.IDs != nil && c.Era == mcp.EraModern && !c.DeclaresTasks && len(c.Listen.TaskIDs()) > 0 {
		return nil, cmp.Or(r.CheckServed(), error(mcp.ErrMissingTasks))
	}
	ids, others, err := s.sort(r)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	if err := r.CheckServed(); err != nil {
		return nil, err
	}
	// Watched before they are looked up: no change may fall between the two.
	own := &ownTasks{others: others, watch: s.Poller.Watch(ids...)}
	found, err := s.lookUp(r, ids)
	if err != nil {
		own.close()
		return nil, err
	}
	for i, task := range found {
		own.take(ids[i], task)
	}
	return own, nil
}

// sort sorts the ids that are looked up into those of berth's own making and all others.
func (s *Subscriptions) sort(r *Request) (own, others []string, err error) {
	c := r.Single()
	if s.IDs == nil || c.Era != mcp.EraModern {
		return nil, nil, nil
	}
	for _, id := range routing.ListenIDs(c.Listen.TaskIDs()) {
		isOwn, err := s.IDs.Ours(r.HTTP.Context(), id)
		switch {
		case err != nil:
			return nil, nil, err
		case isOwn:
			own = append(own, id)
		default:
			others = append(others, id)
		}
	}
	return own, others, nil
}

// lookUp returns the tasks with these ids, nil for those that are not the caller's.
func (s *Subscriptions) lookUp(r *Request, ids []string) ([]*ownTask, error) {
	ctx, cancel := context.WithTimeout(r.HTTP.Context(), taskwatch.Patience)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(statesAtOnce)
	found, caller := make([]*ownTask, len(ids)), r.Caller()
	for i, id := range ids {
		group.Go(func() error {
			record, err := s.Poller.Record(ctx, id, caller.Asker())
			switch err := caller.MayHear(ctx, record, err); {
			case errors.Is(err, upgrade.ErrUnknown):
				return nil
			case err != nil:
				return err
			}
			found[i] = newOwnTask(record, s.Tasks.Expires(record))
			return nil
		})
	}
	return found, group.Wait()
}

// take keeps a task; nil is one that is not the caller's. One that has not moved is polled
// only when its interval is over.
func (o *ownTasks) take(id string, task *ownTask) {
	if task == nil {
		o.watch.Remove(id)
		return
	}
	o.tasks = append(o.tasks, task)
	if !task.moved {
		o.watch.Later(id, task.poll)
	}
}

// close ends the watch.
func (o *ownTasks) close() {
	if o != nil {
		o.watch.Stop()
	}
}

// narrow returns the query without the tasks of berth's own making.
func (o *ownTasks) narrow(q routing.Query) routing.Query {
	if o == nil {
		return q
	}
	call := q.Calls[0]
	call.Listen = call.Listen.WithTasks(o.others)
	q.Calls = []mcp.Call{call}
	return q
}

// ids are those of the tasks that are the caller's.
func (o *ownTasks) ids() []string {
	ids := []string{}
	for _, task := range o.tasks {
		ids = append(ids, task.id)
	}
	return ids
}
