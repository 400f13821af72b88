package subscribe

import (
	"context"
	"slices"

	"berth/internal/mcp"
	"berth/internal/mcp/listen"
	"berth/routing"
	"berth/sticky"
)

// plan makes the subscription's legs: one for each owner of its tasks, and for its
// other wishes a part in the first of these, or in the streams to the whole fleet that
// subscribers share. What nobody is known to own goes to the first as well, for an
// upstream to judge. Owners that are known to be silent are left out. Tasks of berth's own
// making are a leg of berth's own, and no upstream hears of them.
func (l *Subscription) plan(audience routing.Audience) {
	rest := l.asked.WithTasks(nil)
	fleetwide := l.Endpoint.FleetNotifications && !rest.Empty()
	portions := byOwner(audience.Tasks)
	if len(portions) == 0 && l.needsAnybody(audience, rest, fleetwide) {
		portions = []portion{{}}
	}
	for i, p := range portions {
		ids := p.ids()
		if i > 0 || fleetwide {
			l.add(p, nil, ids)
			continue
		}
		l.add(p, rest, append(ids, audience.Unjudged...))
	}
	if fleetwide {
		l.shareAll(rest)
	}
	l.Source = l.source(audience)
	if l.needsOwnLeg(audience) {
		l.addOwn()
	}
}

// source says where the first owner was found, before berth's own leg is added.
func (l *Subscription) source(audience routing.Audience) sticky.Source {
	switch {
	case len(audience.Tasks) > 0:
		return audience.Tasks[0].Source
	case len(l.legs) == 0 && l.own != nil:
		return routing.SourceUpgraded
	}
	return routing.SourcePicked
}

// needsOwnLeg reports whether there are tasks of berth's own making to tell of. Where
// such tasks are all that is asked for, and none of them is the caller's, the leg stands
// for nothing. Where an owner is silent that is what the client has to hear.
func (l *Subscription) needsOwnLeg(audience routing.Audience) bool {
	if l.own == nil {
		return false
	}
	return len(l.own.tasks) > 0 || len(l.legs) == 0 && len(audience.Tasks) == 0
}

// needsAnybody reports whether a leg at any upstream is needed where no owner is to be
// had: for wishes that concern no task, or so that an upstream words its refusal.
func (l *Subscription) needsAnybody(audience routing.Audience, rest listen.Filter, fleetwide bool) bool {
	switch {
	case fleetwide:
		return false
	case !rest.Empty():
		return true
	case l.own != nil:
		return len(audience.Unjudged) > 0
	}
	return len(audience.Tasks) == 0
}

// portion is what one owner has of a subscription's tasks; without an owner it is for
// any upstream.
type portion struct {
	owner *routing.Upstream
	tasks []routing.Listened
}

func (p portion) ids() []string {
	ids := []string{}
	for _, task := range p.tasks {
		ids = append(ids, task.ID)
	}
	return ids
}

// byOwner sorts tasks by their owners, in the order in which these first appear.
func byOwner(tasks []routing.Listened) []portion {
	var portions []portion
	for _, task := range tasks {
		if task.Owner.Silent() {
			continue
		}
		i := slices.IndexFunc(portions, func(p portion) bool { return p.owner == task.Owner })
		if i < 0 {
			i, portions = len(portions), append(portions, portion{owner: task.Owner})
		}
		portions[i].tasks = append(portions[i].tasks, task)
	}
	return portions
}

// add starts a leg of the client's own. What is left of ids where all others are of tasks
// of berth's own making is left out whole if it is nothing: the upstream may well know
// nothing of tasks.
func (l *Subscription) add(p portion, rest listen.Filter, ids []string) {
	ctx, end := context.WithCancel(l.HTTP.Context())
	g := &leg{l: l, upstream: p.owner, tasks: p.tasks, states: newStates(p.tasks), end: end}
	g.asked, g.body = rest, l.Body
	if named, ok := l.asked.Find(listen.Tasks); ok && (len(ids) > 0 || l.own == nil) {
		g.asked = rest.WithTasks(ids)
		if !slices.Equal(named.List, ids) {
			g.body = mcp.NarrowListen(l.Body, ids)
		}
	}
	if len(g.asked) < len(l.asked) {
		g.body = mcp.ListenFor(l.Body, g.asked)
	}
	l.legs = append(l.legs, g)
	l.running.Go(func() { g.run(ctx) })
}
