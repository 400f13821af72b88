package proxy

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/proxy/taskwatch"
	"berth/routing"
	"berth/upgrade"

	"golang.org/x/sync/errgroup"
)

// upgradedAudience is what is known of the tasks of berth's own making that a
// subscription names. A nil one names none.
type upgradedAudience struct {
	tasks  []*upgradedTask  // that are the caller's, in the order of the request
	others []string         // the ids of no such task
	watch  *taskwatch.Watch // of those that were named, and then of these alone
}

// upgradedAudience finds the tasks of berth's own making that the subscription names. A
// client that does not take tasks is refused before any is looked up. The error wraps
// storage.ErrUnavailable if the store cannot tell whose a task is.
//
// Those that do not exist or are another's are left out, and not counted as unknown:
// such an id cannot be guessed.
func (x *request) upgradedAudience() (*upgradedAudience, error) {
	ids, others, err := x.sortListened()
	switch {
	case err != nil || len(ids) == 0:
		return nil, err
	}
	if err := x.checkServed(); err != nil {
		return nil, err
	}
	if !x.Single().DeclaresTasks {
		return nil, mcp.ErrMissingTasks
	}
	// Watched before they are looked up: no change may fall between the two.
	a := &upgradedAudience{others: others, watch: x.p.watching.Watch(ids...)}
	found, err := x.lookUpUpgraded(ids)
	if err != nil {
		a.close()
		return nil, err
	}
	for i, task := range found {
		a.take(ids[i], task)
	}
	return a, nil
}

// take keeps a task; nil is one that is not the caller's. One that has not moved is looked at
// only when its interval is over.
func (a *upgradedAudience) take(id string, task *upgradedTask) {
	if task == nil {
		a.watch.Remove(id)
		return
	}
	a.tasks = append(a.tasks, task)
	if !task.moved {
		a.watch.Later(id, task.poll)
	}
}

// close ends the watch.
func (a *upgradedAudience) close() {
	if a != nil {
		a.watch.Stop()
	}
}

// sortListened sorts the ids that are looked up into those of berth's own making and all
// others.
func (x *request) sortListened() (upgraded, others []string, err error) {
	c := x.Single()
	if x.p.options.Tasks == nil || c.Era != mcp.EraModern {
		return nil, nil, nil
	}
	for _, id := range routing.ListenIDs(c.Listen.TaskIDs()) {
		own, err := x.p.options.Tasks.Owns(x.HTTP.Context(), id)
		switch {
		case err != nil:
			return nil, nil, err
		case own:
			upgraded = append(upgraded, id)
		default:
			others = append(others, id)
		}
	}
	return upgraded, others, nil
}

// lookUpUpgraded returns the tasks with these ids, nil for those that are not the caller's.
func (x *request) lookUpUpgraded(ids []string) ([]*upgradedTask, error) {
	ctx, cancel := context.WithTimeout(x.HTTP.Context(), taskwatch.Patience)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(statesAtOnce)
	found := make([]*upgradedTask, len(ids))
	for i, id := range ids {
		group.Go(func() error {
			record, err := x.p.watching.Record(ctx, id, x.Asker())
			switch err := x.caller().MayHear(x.ctx, record, err); {
			case errors.Is(err, upgrade.ErrUnknown):
				return nil
			case err != nil:
				return err
			}
			found[i] = newUpgradedTask(record, x.p.options.Tasks.Expires(record))
			return nil
		})
	}
	return found, group.Wait()
}

// narrow returns the query without the tasks of berth's own making.
func (a *upgradedAudience) narrow(q routing.Query) routing.Query {
	if a == nil {
		return q
	}
	call := q.Calls[0]
	call.Listen = call.Listen.WithTasks(a.others)
	q.Calls = []mcp.Call{call}
	return q
}

// ids are those of the tasks that are the caller's.
func (a *upgradedAudience) ids() []string {
	ids := []string{}
	for _, task := range a.tasks {
		ids = append(ids, task.id)
	}
	return ids
}
