package proxy

import (
	"fmt"

	"berth/internal/api"
	"berth/internal/wire"
	"berth/routing"
	"berth/routing/health"
	"berth/sticky"
)

func (e *explaining) owned(u *routing.Upstream) error {
	x := e.x
	e.told.Owner = u.Name
	e.told.Why = fmt.Sprintf("%s is bound to %s (found: %s)", bound(&x.decision), u.Name, x.decision.Source)
	state := u.State()
	if state.Name != health.StateOK {
		e.step("owner", state.Name, state.String())
	}
	if isOutOfReach(x.Call, &x.decision, u) {
		if x.AboutTask && x.p.stale.IfError(x.Call, u.DownFor()) != nil {
			e.answer("the owner " + u.Name + " does not answer: berth tells the task as it saw it last")
			return nil
		}
		if e.byID && x.Principal == "" && x.AboutTask && x.p.stale.IfErrorForSome(x.Call, u.DownFor()) {
			e.step("credentials", "would be judged", "whoever was told of the task before is told it again")
			e.answer("the owner " + u.Name + " does not answer: berth tells the task as it saw it last, to credentials that were told of it before")
			return nil
		}
		return unreachable(x.asCase(), u, nil)
	}
	e.told.Answer = api.Answer{Action: "forward", Detail: "upstream: " + u.Name}
	switch {
	case x.decision.Visits:
		e.told.Answer.Detail += ", in a session that berth opens there for it: the client's is at " + x.decision.Binding.Upstream
	case u.MovesSessions() && x.asCase().MayReopen():
		e.told.Answer.Detail += ", or another: sessions are to leave it, and this one can be opened elsewhere"
	case u.Silent():
		e.told.Answer.Detail += ", which does not answer at present: it is tried once"
	case x.HTTP.Method == wire.MethodDelete && x.p.sessions.MayHold(x.way(), &x.decision):
		e.told.Answer.Detail += "; where calls are held in the session, berth answers and tells it later"
	}
	return nil
}

func bound(d *routing.Decision) string {
	switch {
	case d.IsKeptTogether():
		return "a value of an affinity header"
	case d.Key.Kind == sticky.Session && !standpointOf(d).left:
		return "its session"
	}
	return "its task"
}
