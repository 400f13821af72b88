package proxy

import (
	"errors"
	"slices"

	"berth/internal/mcp"
	"berth/sticky"
	"berth/upgrade"

	"golang.org/x/sync/errgroup"
)

// ownPerPage is how many tasks of berth's own making one page of a list holds.
const ownPerPage = 100

// listsOwn reports whether lists bear tasks of berth's own making: only where callers are
// told apart.
func (x *request) listsOwn() bool {
	return x.p.options.Tasks != nil && x.Endpoint.Router.Principals && x.p.options.Rules.In(x.PoolName())
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
	return x.AnyRequest(isListOfTasks) && x.addedTasks() && !x.Endpoint.Router.Principals
}

// ownPage returns the caller's tasks of berth's own making that come after the one which
// cursor names, in the order in which they expire. Where that one is gone, so is all that
// stood before it: what is left is what follows.
func (l *listing) ownPage(cursor string) (mcp.TaskList, error) {
	x := l.x
	ids, err := x.p.options.Tasks.Mine(x.ctx, x.PoolName(), x.Principal)
	if err != nil {
		return mcp.TaskList{}, err
	}
	from := slices.Index(ids, cursor) + 1
	here := ids[from:min(from+ownPerPage, len(ids))]
	tasks, err := l.lookUp(here)
	if err != nil {
		return mcp.TaskList{}, err
	}
	page := mcp.TaskList{Tasks: tasks}
	if from+len(here) < len(ids) {
		page.NextCursor = here[len(here)-1]
	}
	return page, nil
}

// lookUp returns those of the tasks that there are.
func (l *listing) lookUp(ids []string) ([]mcp.ListedTask, error) {
	x := l.x
	found := make([]mcp.ListedTask, len(ids))
	looking, ctx := errgroup.WithContext(x.ctx)
	looking.SetLimit(lookupsAtOnce)
	for i, id := range ids {
		looking.Go(func() error {
			view, err := x.p.options.Tasks.Glance(ctx, id, x.Asker())
			if errors.Is(err, upgrade.ErrUnknown) || x.p.options.Tasks.Withholds(&view.Task) {
				return nil // it expires at this moment, or nobody knows of it yet
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
