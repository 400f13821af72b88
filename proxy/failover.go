package proxy

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/routing"
	"berth/sticky"
)

// Outcomes of an attempt to move a session; labels of a metric.
const (
	moveDone     = "moved"
	moveJoined   = "joined"      // it was moved already, by another request or berth
	moveLost     = "lost"        // another berth moved it at the same time
	moveUnkept   = "unkept"      // what it takes is not kept, or the store cannot tell
	moveNowhere  = "no_upstream" // no other upstream could be reached
	moveVersion  = "version"     // the other upstream negotiates another protocol version
	moveRejected = "failed"      // it refused, or did not answer
)

// errNotMoved says that the session could not be moved, and that its client is to get
// what it gets where none are.
var errNotMoved = errors.New("proxy: the session was not moved")

// mayReopen reports whether the request is in a session that could be opened anew.
func (x *request) mayReopen() bool {
	return x.Endpoint.Reinit && x.decision.Key.Kind == sticky.Session && !x.decision.Binding.Kept.IsZero()
}

// staysBehind reports whether the request is about a task whose session could move:
// the task does not move with it, and the end of the session is not the task's.
func (x *request) staysBehind() bool { return x.mayReopen() && x.AboutTask() }

// movesAlong reports whether the request may go to another upstream with its session.
// What is about a task, or answers the upstream that was lost, means that one; the end
// of a session needs no new one.
func (x *request) movesAlong() bool {
	isTask := func(c mcp.Call) bool { return c.IsTask() }
	return x.mayReopen() && x.movedFrom == "" && x.HTTP.Method != wire.MethodDelete &&
		!x.HasResponse() && !slices.ContainsFunc(x.Message.Calls, isTask)
}

// failOver serves a request that the session's upstream u could not be sent. done is
// false where the client gets what it gets without a move.
func (x *request) failOver(u *routing.Upstream) (done bool, err error) {
	if x.isOutdated() {
		return true, x.reroute()
	}
	if x.mayReopen() && x.IsResponse() {
		return true, x.dropStray()
	}
	if x.mayReopen() && x.HTTP.Method == wire.MethodDelete {
		ctx, cancel := x.Recording()
		defer cancel()
		x.forgetSession(ctx) // nobody is to open it anew
	}
	binding, err := x.relocate(u, false)
	if errors.Is(err, errNotMoved) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	return true, x.follow(binding)
}

// isOutdated reports whether the request was routed by what another berth has changed
// since: it moved the session, and the near cache did not know.
func (x *request) isOutdated() bool {
	return x.mayReopen() && x.standsElsewhere()
}

// standsElsewhere reports whether the session has another owner than the one that the
// request was routed to, and was not routed anew yet.
func (x *request) standsElsewhere() bool {
	if x.movedFrom != "" {
		return false
	}
	standing, err := x.Endpoint.Router.Bindings.Reload(x.ctx, x.decision.Key)
	return err == nil && !standing.SameOwner(x.decision.Binding)
}

// reroute begins anew, once, with what isOutdated has read. That goes for all kinds of
// requests: what does not move with a session is told so by where the session is.
func (x *request) reroute() error {
	x.movedFrom = x.decision.Binding.Upstream
	x.p.telemetry.moved(x, moveJoined)
	return x.dispatch()
}

// relocate moves the session away from u and returns its new binding; or back to u, if
// that is alive, only denies the session, and nobody else is there. The error is
// errNotMoved, or routing.ErrUnknownSession after an attempt that ended the session.
func (x *request) relocate(u *routing.Upstream, alive bool) (sticky.Binding, error) {
	if !x.movesAlong() {
		return sticky.Binding{}, errNotMoved
	}
	// Requests of one session share a move, as far as they bear the same credentials.
	flight := x.PoolName() + "\x00" + x.Principal + "\x00" + x.Credential + "\x00" + x.Session
	moved, err, _ := x.p.moves.Do(flight, func() (any, error) { return x.move(u, alive) })
	if err != nil && !errors.Is(err, errNotMoved) {
		err = routing.ErrUnknownSession
	}
	return moved.(sticky.Binding), err
}

// follow sends the request to where its session is now, once.
func (x *request) follow(binding sticky.Binding) error {
	if err := x.moveTo(binding); err != nil {
		return err
	}
	if x.asksCoreTask() {
		return x.callAsTask()
	}
	if err := x.bindMadeTo(x.decision.Owner); err != nil { // what the client makes moves along
		return err
	}
	return x.forwardOwned(x.decision.Owner)
}

// moveTo has the request go to where its session is now.
func (x *request) moveTo(binding sticky.Binding) error {
	x.movedFrom = x.decision.Binding.Upstream
	x.decision.Binding, x.decision.Alias = binding, binding.Alias
	x.decision.Owner = x.Pool().Find(binding.Upstream)
	if x.decision.Owner == nil {
		return routing.ErrUnknownSession // only another berth's configuration knows it
	}
	return x.openAlias()
}

// move moves the session away from u, which may be nil if that is not in the pool any
// more, and returns the binding that stands then. It does not end with its caller,
// for whom others wait. Errors other than errNotMoved end the session.
func (x *request) move(u *routing.Upstream, alive bool) (sticky.Binding, error) {
	limit := 2 * cmp.Or(x.Endpoint.Timeouts.Control, defaultReplayStep)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.HTTP.Context()), limit)
	defer cancel()
	binding, outcome, err := x.tryMove(ctx, u, alive)
	x.p.telemetry.moved(x, outcome)
	log := x.p.log.With("pool", x.PoolName(), "from", x.decision.Binding.Upstream)
	switch {
	case outcome == moveDone:
		log.Info("session moved", "to", binding.Upstream)
	case outcome == moveUnkept:
		log.Debug("session not moved", "outcome", outcome, "error", err)
	case err != nil:
		log.Warn("session not moved", "outcome", outcome, "error", err)
	}
	return binding, err
}

func (x *request) tryMove(ctx context.Context, u *routing.Upstream, alive bool) (sticky.Binding, string, error) {
	bindings, key := x.Endpoint.Router.Bindings, x.decision.Key
	standing, err := bindings.Reload(ctx, key)
	if err != nil {
		return sticky.Binding{}, moveUnkept, errors.Join(errNotMoved, err)
	}
	if !standing.SameOwner(x.decision.Binding) {
		return standing, moveJoined, nil
	}
	kept, err := x.recall(ctx)
	if err != nil {
		return sticky.Binding{}, moveUnkept, errors.Join(errNotMoved, err)
	}
	opened, outcome, err := x.reopen(ctx, u, alive, kept)
	if err != nil {
		return sticky.Binding{}, outcome, err
	}
	next := sticky.Binding{
		Upstream: opened.upstream.Name, Alias: x.way().SealedAlias(opened.session),
		Version: kept.Version, Kept: standing.Kept, Tasks: standing.Tasks, Declares: standing.Declares, // what its client was told stands
	}
	now, err := bindings.Move(ctx, key, standing, next)
	switch {
	case err == nil:
		return now, moveDone, nil
	case errors.Is(err, sticky.ErrMoved):
		opened.end()
		return now, moveLost, nil
	}
	opened.end()
	return sticky.Binding{}, moveUnkept, errors.Join(errNotMoved, err)
}

// recall reads what is kept of the session.
func (x *request) recall(ctx context.Context) (*handshake, error) {
	sealed, err := x.Endpoint.Router.Bindings.Handshake(ctx, x.decision.Key)
	if err != nil {
		return nil, err
	}
	return openHandshake(x.Session, sealed)
}

// reopen opens the session on an upstream that is fit for new work. It goes on to
// another one only while nothing was sent.
func (x *request) reopen(ctx context.Context, lost *routing.Upstream, alive bool, kept *handshake) (*replay, string, error) {
	tried := []*routing.Upstream{lost}
	for {
		lease, err := x.Pool().Pick(mcp.EraLegacy, "", tried)
		if err != nil && alive {
			lease, err, alive = x.Pool().Own(lost), nil, false
		}
		if err != nil {
			return nil, moveNowhere, errors.Join(errNotMoved, err)
		}
		r := &replay{x: x, upstream: lease.Upstream, kept: kept}
		err = r.run(ctx)
		lease.Release()
		var failed *exchange.SendError
		switch {
		case err == nil:
			return r, moveDone, nil
		case errors.Is(err, errVersionDiffers):
			return nil, moveVersion, err
		case !errors.As(err, &failed) || failed.Sent:
			return nil, moveRejected, err
		case failed.Starved:
			return nil, moveNowhere, errors.Join(errNotMoved, err) // nobody else would get it either
		}
		tried = append(tried, lease.Upstream)
	}
}

// orphaned serves a request in a session whose upstream is not in the pool any more,
// and which nobody else holds, as unknown says. done is false if it is not such a one,
// or cannot be moved.
func (x *request) orphaned(unknown error) (done bool, err error) {
	if !x.Endpoint.Reinit || !errors.Is(unknown, routing.ErrUnknownSession) {
		return false, nil
	}
	ctx, cancel := x.Recording()
	defer cancel()
	key := x.Endpoint.Router.SessionKey(x.Principal, x.Session)
	binding, err := x.Endpoint.Router.Bindings.Reload(ctx, key)
	if err != nil || x.Pool().Find(binding.Upstream) != nil {
		return false, nil
	}
	x.decision = routing.Decision{Source: sticky.SourceStore, Key: key, Binding: binding, Alias: binding.Alias}
	if x.staysBehind() {
		return true, fault.OwnerSilent
	}
	return x.failOver(nil)
}
