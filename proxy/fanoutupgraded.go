package proxy

import (
	"errors"
	"slices"
	"strings"

	"berth/internal/mcp"
	"berth/sticky"
	"berth/upgrade"

	"golang.org/x/sync/errgroup"
)

const (
	// ownPerPage is how many tasks of berth's own making one page of a list holds.
	ownPerPage = 100

	// anchors is how many of them its cursor names: where the last of them has expired
	// meanwhile, the list goes on behind the one before.
	anchors = 8
)

// listsOwn reports whether lists bear tasks of berth's own making: only where callers are
// told apart.
func (x *request) listsOwn() bool {
	return x.p.options.Tasks != nil && x.endpoint.Router.Principals && x.p.options.Rules.In(x.poolName())
}

// addedTasks reports whether it was berth that told the session's client of tasks: its
// upstream has none, and no list of them. The request must be routed.
func (x *request) addedTasks() bool {
	binding := x.decision.Binding
	return x.decision.Key.Kind == sticky.Session && binding.Tasks == sticky.TasksAdded
}

// hasNoList reports whether the request asks for a list that its session's client was not
// told of: callers are not told apart, and the upstream has none. The request must be
// routed.
func (x *request) hasNoList() bool {
	return x.anyRequest(isListOfTasks) && x.addedTasks() && !x.endpoint.Router.Principals
}

// ownPage returns the caller's tasks of berth's own making that come after those which
// cursor names, the oldest first.
func (l *listing) ownPage(cursor string) (mcp.TaskList, error) {
	x := l.x
	ids, err := x.p.options.Tasks.Mine(x.ctx, x.poolName(), x.principal)
	if err != nil {
		return mcp.TaskList{}, err
	}
	from, ok := after(ids, cursor)
	if !ok {
		return mcp.TaskList{}, mcp.ErrInvalidCursor
	}
	here := ids[from:min(from+ownPerPage, len(ids))]
	tasks, err := l.lookUp(here)
	if err != nil {
		return mcp.TaskList{}, err
	}
	page := mcp.TaskList{Tasks: tasks}
	if from+len(here) < len(ids) {
		page.NextCursor = strings.Join(here[max(0, len(here)-anchors):], " ")
	}
	return page, nil
}

// after returns where a list goes on behind the last of the ids in cursor that still
// stands in it.
func after(ids []string, cursor string) (at int, ok bool) {
	if cursor == "" {
		return 0, true
	}
	for _, id := range slices.Backward(strings.Fields(cursor)) {
		if at := slices.Index(ids, id); at >= 0 {
			return at + 1, true
		}
	}
	return 0, false
}

// lookUp returns those of the tasks that there are.
func (l *listing) lookUp(ids []string) ([]mcp.ListedTask, error) {
	x := l.x
	found := make([]mcp.ListedTask, len(ids))
	looking, ctx := errgroup.WithContext(x.ctx)
	looking.SetLimit(lookupsAtOnce)
	for i, id := range ids {
		looking.Go(func() error {
			view, err := x.p.options.Tasks.Glance(ctx, id, x.asker())
			if errors.Is(err, upgrade.ErrUnknown) {
				return nil // it expires at this moment
			}
			found[i] = view.Core().Listed()
			return err
		})
	}
	if err := looking.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(t mcp.ListedTask) bool { return t.ID == "" }), nil
}
