package proxy

import (
	"errors"

	"berth/internal/mcp"
	"berth/sticky"

	"golang.org/x/sync/errgroup"
)

// lookupsAtOnce bounds the look-ups under way for one upstream's page.
const lookupsAtOnce = 16

// callers returns the tasks of a place that are bound to the caller, or all of them where
// there are no principals. A store that cannot tell whose a task is makes the list an error.
func (l *listing) callers(p place, tasks []mcp.ListedTask) ([]mcp.ListedTask, error) {
	router := l.x.Endpoint.Router
	if !router.Principals || p.isOwn() {
		return tasks, nil
	}
	mine := make([]bool, len(tasks))
	looking, ctx := errgroup.WithContext(l.x.ctx)
	looking.SetLimit(lookupsAtOnce)
	for i, t := range tasks {
		looking.Go(func() error {
			binding, _, err := router.LookUp(ctx, router.TaskKey(l.x.Principal, t.ID))
			if errors.Is(err, sticky.ErrUnknown) {
				return nil
			}
			mine[i] = err == nil && binding.Upstream == p.Upstream
			return err
		})
	}
	if err := looking.Wait(); err != nil {
		return nil, err
	}
	var own []mcp.ListedTask
	for i, t := range tasks {
		if mine[i] {
			own = append(own, t)
		}
	}
	return own, nil
}
