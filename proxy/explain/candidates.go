package explain

import (
	"strings"

	"berth/internal/api"
	"berth/routing"
	"berth/routing/health"
)

func (e *explaining) unbound(d routing.Decision) error {
	r := e.r
	o := e.candidates(d, !r.Stands && !r.ConcernsBegun && !r.BeforeAuthorization())
	switch {
	case o.Err != nil:
		return o.Err
	case o.Waits:
		e.told.Answer = api.Answer{Action: "wait", Detail: "for room: all that may have it are full"}
		return nil
	}
	var names []string
	for _, u := range o.Among {
		names = append(names, u.Name)
	}
	detail := "upstream: " + names[0]
	if len(names) > 1 {
		detail = "one of: " + strings.Join(names, ", ")
	}
	e.told.Answer = api.Answer{Action: "forward", Detail: detail}
	return nil
}

func (e *explaining) candidates(d routing.Decision, mayWait bool) routing.Prospect {
	o := e.r.Pool().Prospect(e.r.Work(d.Prefer), routing.Terms{MayWait: mayWait, GoesOn: d.GoesOn})
	for _, c := range o.Candidates {
		state := c.State()
		told := api.Candidate{Upstream: c.Name, State: state.Name, Draining: c.Draining, Rank: c.Rank, Load: c.Load, Weight: max(c.Weight, 1), Room: c.Room}
		var why []string
		if c.Draining {
			why = append(why, "drains")
		}
		if state.Name != health.StateOK {
			why = append(why, state.String())
		}
		if c.Backup {
			why = append(why, "a backup")
		}
		if c.Foreign {
			why = append(why, "does not speak the "+e.r.Era().String()+" era, as it last showed")
		}
		if !c.Room {
			why = append(why, "full")
		}
		told.Why = strings.Join(why, "; ")
		e.told.Candidates = append(e.told.Candidates, told)
	}
	return o
}
