package failover

import (
	"context"
	"errors"
	"slices"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/proxy/session"
	"berth/routing"
	"berth/sticky"
)

// loss is why a session has to leave its upstream.
type loss int

const (
	unreachable loss = iota // the upstream does not answer, or has left its pool
	denied                  // it answers, and does not know the session
)

// elsewhere opens the session on another upstream than u, which may be nil if it is not in the
// pool any more, and sends the request after it. If u has only denied the session, and no other
// upstream is available, the session is reopened on u.
func (m *Mover) elsewhere(c Case, u *routing.Upstream, why loss) Verdict {
	if !c.movable() {
		return Verdict{Later: c.Moved} // by then it may leave again, with another request
	}
	// Requests of one session share a move, as far as they bear the same credentials.
	key := c.PoolName() + "\x00" + c.Principal + "\x00" + c.Credential() + "\x00" + c.Session
	shared, _, _ := m.moves.Do(key, func() (any, error) { return m.move(c, u, why), nil })
	switch now := shared.(moved); now.outcome {
	case Unkept, Nowhere: // its client is to get what it gets where none are moved
		return Verdict{Later: now.passes(), waits: now.passes()}
	case Version, Rejected:
		return Verdict{Step: Refuse, Err: routing.ErrUnknownSession, Later: now.passes()}
	default:
		return follow(c, now.binding)
	}
}

// moved is what a move came to, and the binding that stands then.
type moved struct {
	binding sticky.Binding
	outcome Outcome
	err     error // why it was not moved
}

// passes reports whether what kept the session from being moved may pass.
func (m moved) passes() bool {
	switch m.outcome {
	case Nowhere, Rejected:
		return true
	case Unkept:
		return errors.Is(m.err, storage.ErrUnavailable) || errors.Is(m.err, context.DeadlineExceeded)
	}
	return false
}

// move moves the session, and tells of it. It does not end with its caller, for whom others
// wait.
func (m *Mover) move(c Case, u *routing.Upstream, why loss) moved {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.HTTP.Context()), session.Limit(c.Endpoint))
	defer cancel()
	binding, outcome, err := tryMove(ctx, c, u, why)
	m.Count(c.PoolName(), outcome)
	log := c.Log.With("pool", c.PoolName(), "from", c.At.Binding.Upstream)
	switch {
	case outcome == Moved:
		log.Info("session moved", "to", binding.Upstream)
	case outcome == Unkept:
		log.Debug("session not moved", "outcome", outcome, "error", err)
	case err != nil:
		log.Warn("session not moved", "outcome", outcome, "error", err)
	}
	return moved{binding, outcome, err}
}

// tryMove moves the session unless it stands elsewhere by now.
func tryMove(ctx context.Context, c Case, u *routing.Upstream, why loss) (sticky.Binding, Outcome, error) {
	standing, err := c.Endpoint.Router.Bindings.Reload(ctx, c.At.Key)
	if err != nil {
		return sticky.Binding{}, Unkept, err
	}
	if !standing.SameOwner(c.At.Binding) {
		return standing, Joined, nil
	}
	kept, err := recall(ctx, c)
	if err != nil {
		return sticky.Binding{}, Unkept, err
	}
	opened, outcome, err := reopen(ctx, c, u, why, kept)
	if err != nil {
		return sticky.Binding{}, outcome, err
	}
	return rebind(ctx, c, standing, opened)
}

// rebind makes what was opened the session, unless another berth was first, or it has ended. Where the store does not say who was, what was
// opened is left as it is.
func rebind(ctx context.Context, c Case, standing sticky.Binding, opened *session.Session) (sticky.Binding, Outcome, error) {
	next := sticky.Binding{
		Upstream: opened.Upstream.Name, Alias: c.SealedAlias(opened.ID), Version: opened.Version,
		Kept: standing.Kept, Tasks: standing.Tasks, Declares: standing.Declares, // what its client was told stands
	}
	formers := standing.Formers()
	if c.leaves {
		formers = slices.Insert(formers, 0, sticky.Location{Upstream: standing.Upstream, Alias: standing.Alias})
	}
	next.SetFormers(slices.DeleteFunc(formers, func(p sticky.Location) bool { return c.Pool().Find(p.Upstream) == nil }))
	now, err := c.Endpoint.Router.Bindings.Move(ctx, c.At.Key, standing, next)
	switch {
	case err == nil:
		return now, Moved, nil
	case errors.Is(err, sticky.ErrMoved):
		opened.End(ctx)
		return now, Overtaken, nil
	case errors.Is(err, sticky.ErrUnknown): // its client has ended it meanwhile
		opened.End(ctx)
	}
	return now, Unkept, err // what was opened may be the session by now, or be in a moment
}

// recall reads what is kept of the session.
func recall(ctx context.Context, c Case) (*handshake, error) {
	sealed, err := c.Endpoint.Router.Bindings.Handshake(ctx, c.At.Key)
	if err != nil {
		return nil, err
	}
	return openHandshake(c.Session, sealed)
}

// reopen opens the session on an upstream that is fit for new work. It goes on to
// another one only while nothing was sent.
func reopen(ctx context.Context, c Case, lost *routing.Upstream, why loss, kept *handshake) (*session.Session, Outcome, error) {
	opener := session.For(c.Way)
	tried, work, back := []*routing.Upstream{lost}, c.Work(""), why == denied
	work.Era = mcp.EraLegacy
	for {
		lease, err := c.Pool().Pick(work, tried)
		if err != nil && back {
			lease, err, back = c.Pool().Own(lost), nil, false
		}
		if err != nil {
			return nil, Nowhere, err
		}
		opened, err := opener.Open(ctx, lease.Upstream, kept.opening(c.Call))
		lease.Release()
		var failed *exchange.SendError
		switch {
		case err == nil:
			return opened, Moved, nil
		case errors.Is(err, errVersionDiffers):
			return nil, Version, err
		case !errors.As(err, &failed) || failed.Sent:
			return nil, Rejected, err
		case failed.Starved:
			return nil, Nowhere, err // nobody else would get it either
		}
		tried = append(tried, lease.Upstream)
	}
}
