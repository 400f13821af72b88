package proxy

import (
	"errors"
	"slices"

	"berth/internal/mcp"
	"berth/routing"
	"berth/upgrade"
)

// bindMade binds the tasks whose ids the client made to u, before u hears of them, and
// returns who owns them: u or, where somebody was first, another. A request that u's
// predecessor got nothing of takes its bindings along.
func (x *request) bindMade(u *routing.Upstream) (owner *routing.Upstream, err error) {
	if len(x.decision.Made) == 0 {
		return u, nil
	}
	ctx, cancel := x.recording()
	defer cancel()
	session := ""
	if x.session != "" {
		session = digest(x.session)
	}
	from := x.madeAt
	x.madeAt = u
	for _, key := range x.decision.Made {
		one, err := x.endpoint.Router.BindNew(ctx, key, from, u, session)
		if err != nil {
			return nil, err
		}
		if owner != nil && owner != one {
			return nil, routing.ErrSeveralOwners
		}
		owner = one
	}
	return owner, nil
}

// bindMadeTo binds those tasks to owner, who gets the request, whoever had one of the
// caller's ids before.
func (x *request) bindMadeTo(owner *routing.Upstream) error {
	if _, err := x.bindMade(owner); !errors.Is(err, routing.ErrSeveralOwners) {
		return err
	}
	return nil
}

// releaseMade gives up what bindMade bound for a request that nobody got anything of, so
// that the client may try again anywhere.
func (x *request) releaseMade() {
	if x.madeAt == nil || x.sent {
		return
	}
	ctx, cancel := x.recording()
	defer cancel()
	for _, key := range x.decision.Made {
		x.endpoint.Router.Bindings.ReleaseProvisional(ctx, key, x.madeAt.Name)
	}
}

// makesTask reports whether some of the request is to become a task whose id the client
// made.
func (x *request) makesTask() bool {
	return slices.ContainsFunc(x.message.Calls, func(c mcp.Call) bool { return c.MakesTask() })
}

// forgetTask drops what is kept of a task that its owner has just deleted.
func (x *request) forgetTask(u *routing.Upstream) {
	ctx, cancel := x.recording()
	defer cancel()
	key := x.decision.Task
	x.p.seen.drop(x.seenKey(key))
	bindings := x.endpoint.Router.Bindings
	if binding, _, err := bindings.Lookup(ctx, key); err == nil && binding.Upstream == u.Name {
		bindings.Unbind(ctx, key)
	}
}

// checkTaskIDs refuses ids that no task can have, without looking for them.
func (x *request) checkTaskIDs(c *mcp.Call) error {
	limit := x.p.limits.TaskID
	if x.p.options.Tasks != nil {
		limit = max(limit, upgrade.IDLength) // berth's own are good
	}
	switch {
	case c.IsTask() && c.CheckTaskID(limit) != nil:
		return mcp.ErrTaskID
	case c.MakesTask() && c.CheckNewTaskID(limit) != nil:
		return mcp.ErrInvalidTaskID
	}
	return nil
}
