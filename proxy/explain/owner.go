package explain

import (
	"fmt"

	"berth/internal/api"
	"berth/internal/wire"
	"berth/proxy/course"
	"berth/routing"
	"berth/routing/health"
	"berth/sticky"
)

func (e *explaining) owned(u *routing.Upstream) error {
	r := e.r
	e.told.Owner = u.Name
	e.told.Why = fmt.Sprintf("%s is bound to %s (found: %s)", bound(&r.Decision), u.Name, r.Decision.Source)
	state := u.State()
	if state.Name != health.StateOK {
		e.step("owner", state.Name, state.String())
	}
	if course.IsOutOfReach(r.Call, &r.Decision, u) {
		if r.AboutTask && e.Guide.Stale.IfError(r.Call, u.DownFor()) != nil {
			e.answer("the owner " + u.Name + " does not answer: berth tells the task as it saw it last")
			return nil
		}
		if e.byID && r.Principal == "" && r.AboutTask && e.Guide.Stale.IfErrorForSome(r.Call, u.DownFor()) {
			e.step("credentials", "would be judged", "whoever was told of the task before is told it again")
			e.answer("the owner " + u.Name + " does not answer: berth tells the task as it saw it last, to credentials that were told of it before")
			return nil
		}
		return course.Unreachable(r.Case(), u, nil)
	}
	e.told.Answer = api.Answer{Action: "forward", Detail: "upstream: " + u.Name}
	switch {
	case r.Decision.Visits:
		e.told.Answer.Detail += ", in a session that berth opens there for it: the client's is at " + r.Decision.Binding.Upstream
	case u.MovesSessions() && r.Case().MayReopen():
		e.told.Answer.Detail += ", or another: sessions are to leave it, and this one can be opened elsewhere"
	case u.Silent():
		e.told.Answer.Detail += ", which does not answer at present: it is tried once"
	case r.HTTP.Method == wire.MethodDelete && e.Guide.Sessions.MayHold(r.Way(), &r.Decision):
		e.told.Answer.Detail += "; where calls are held in the session, berth answers and tells it later"
	}
	return nil
}

func bound(d *routing.Decision) string {
	switch {
	case d.IsKeptTogether():
		return "a value of an affinity header"
	case d.Key.Kind == sticky.Session && !course.HasLeft(d):
		return "its session"
	}
	return "its task"
}
