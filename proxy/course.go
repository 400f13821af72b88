package proxy

import (
	"context"

	"berth/internal/mcp"
	"berth/proxy/audit"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/tasklist"
	"berth/routing"
)

// course is who serves a request, as far as that is known before it is routed.
type course uint8

const (
	upstreams    course = iota // it is routed, and goes to whom that says
	ownTask                    // berth: it is about a task of its own
	newTask                    // berth: it becomes a task by its rule
	subscription               // berth, with what it hears of upstreams
)

// courseOf decides it, or refuses the request. It changes nothing and sends nothing; rec hears of headers
// that are missed, nil: nobody does.
func (p *Proxy) courseOf(ctx context.Context, c *inbound.Call, rec *audit.Record) (course, error) {
	if p.tasks.Any() {
		if course, err := p.ownCourse(ctx, c, rec); course != upstreams || err != nil {
			return course, err
		}
	}
	switch {
	case c.Subscribes:
		return subscription, nil
	case tasklist.MayNot(c):
		return 0, mcp.ErrNoSuchMethod
	}
	return upstreams, nil
}

// ownCourse is courseOf as far as it is about tasks of berth's own; upstreams: it is not.
func (p *Proxy) ownCourse(ctx context.Context, c *inbound.Call, rec *audit.Record) (course, error) {
	if err := p.sessions.CheckOpen(ctx, c); err != nil {
		return 0, err
	}
	upgraded, err := p.tasks.Owns(ctx, c)
	if err != nil {
		return 0, err
	}
	if err := p.tasks.CheckTakesTasks(c, rec); err != nil {
		return 0, err
	}
	switch {
	case upgraded:
		return ownTask, nil
	case p.tasks.Upgradable(c):
		return newTask, nil
	case p.tasks.NamesNone(c):
		return 0, mcp.ErrNoTaskID
	case p.tasks.HasNoSuchMethod(c):
		return 0, mcp.ErrNoSuchMethod
	}
	return upstreams, nil
}

// goal is whom a request is for that was routed.
type goal uint8

const (
	anybody  goal = iota // who is fit for new work
	theOwner             // of what it is about
	theList              // all upstreams: it asks for a list of their tasks
)

// goalOf decides it, or refuses the request.
func goalOf(c *inbound.Call, at *routing.Decision) (goal, error) {
	switch {
	case tasklist.IsMissing(c, at):
		return 0, fault.NotInCore
	case tasklist.IsWanted(c):
		return theList, nil
	case at.Owner == nil, at.IsKeptTogether() && isLost(c.Endpoint, at.Owner, nil):
		return anybody, nil
	}
	return theOwner, nil
}
