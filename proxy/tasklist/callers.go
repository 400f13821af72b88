package tasklist

import (
	"context"
	"errors"
	"slices"

	"berth/internal/mcp/taskwire"
	"berth/sticky"
	"berth/upgrade"

	"golang.org/x/sync/errgroup"
)

// callers returns the tasks of a place that are bound to the caller, or all of them where
// there are no principals. A store that cannot tell whose a task is makes the list an error.
func (m *making) callers(ctx context.Context, p place, tasks []taskwire.Listed) ([]taskwire.Listed, error) {
	router := m.Endpoint.Router
	if !router.Principals || p.isOwn() {
		return tasks, nil
	}
	return lookUp(ctx, tasks, func(ctx context.Context, t taskwire.Listed) (taskwire.Listed, error) {
		binding, _, err := router.LookUp(ctx, router.TaskKey(m.Principal, t.ID))
		if errors.Is(err, sticky.ErrUnknown) || err == nil && binding.Upstream != p.Upstream {
			return taskwire.Listed{}, nil
		}
		return t, err
	})
}

// ownPage returns the caller's tasks of berth's own making from a place on, which is a store's.
func (m *making) ownPage(ctx context.Context, from string) (taskwire.List, error) {
	ids, next, err := m.tasks.Mine(ctx, m.PoolName(), m.Principal, from, ownPerPage)
	if err != nil {
		return taskwire.List{}, err
	}
	tasks, err := lookUp(ctx, ids, m.view)
	if err != nil {
		return taskwire.List{}, err
	}
	return taskwire.List{Tasks: tasks, NextCursor: next}, nil
}

// view is a task of berth's own making; zero if it expires at this moment, or nobody knows of
// it yet.
func (m *making) view(ctx context.Context, id string) (taskwire.Listed, error) {
	view, err := m.tasks.Glance(ctx, id, m.Asker())
	if errors.Is(err, upgrade.ErrUnknown) || m.tasks.Withholds(&view.Task) {
		return taskwire.Listed{}, nil
	}
	return view.Core().Listed(), err
}

// lookUp returns what look finds of each, in their order, without the zero ones.
func lookUp[T any](ctx context.Context, all []T, look func(context.Context, T) (taskwire.Listed, error)) ([]taskwire.Listed, error) {
	found := make([]taskwire.Listed, len(all))
	looking, ctx := errgroup.WithContext(ctx)
	looking.SetLimit(lookupsAtOnce)
	for i, one := range all {
		looking.Go(func() (err error) {
			found[i], err = look(ctx, one)
			return err
		})
	}
	if err := looking.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(t taskwire.Listed) bool { return t.ID == "" }), nil
}
