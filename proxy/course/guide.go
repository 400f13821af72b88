package course

import (
	"context"
	"log/slog"

	"berth/internal/mcp"
	"berth/proxy/admission"
	"berth/proxy/audit"
	"berth/proxy/inbound"
	"berth/proxy/polls"
	"berth/proxy/sessiontasks"
	"berth/proxy/tasklist"
	"berth/proxy/tasks"
)

// Guide is what it takes to say where requests go. It must not change once it does.
type Guide struct {
	Tasks    *tasks.Face
	Sessions *sessiontasks.Sessions
	Gate     *admission.Gate
	Stale    *polls.StaleCache
	Report   *audit.Reporter
	Log      *slog.Logger
}

// Course is who serves a request, as far as that is known before it is routed.
type Course uint8

// The courses that requests take.
const (
	Upstreams    Course = iota // it is routed, and goes to whom that says
	OwnTask                    // berth: it is about a task of its own
	NewTask                    // berth: it becomes a task by its rule
	Subscription               // berth, with what it hears of upstreams
)

// Course decides it, or refuses the request. It changes nothing and sends nothing; rec hears of headers
// that are missed, nil: nobody does.
func (g *Guide) Course(ctx context.Context, c *inbound.Call, rec *audit.Record) (Course, error) {
	if g.Tasks.Any() {
		if course, err := g.ownCourse(ctx, c, rec); course != Upstreams || err != nil {
			return course, err
		}
	}
	switch {
	case c.Subscribes:
		return Subscription, nil
	case tasklist.MayNot(c):
		return 0, mcp.ErrNoSuchMethod
	}
	return Upstreams, nil
}

// ownCourse is Course as far as it is about tasks of berth's own; Upstreams: it is not.
func (g *Guide) ownCourse(ctx context.Context, c *inbound.Call, rec *audit.Record) (Course, error) {
	if err := g.Sessions.CheckOpen(ctx, c); err != nil {
		return 0, err
	}
	upgraded, err := g.Tasks.Owns(ctx, c)
	if err != nil {
		return 0, err
	}
	if err := g.Tasks.CheckTakesTasks(c, rec); err != nil {
		return 0, err
	}
	switch {
	case upgraded:
		return OwnTask, nil
	case g.Tasks.Upgradable(c):
		return NewTask, nil
	case g.Tasks.NamesNone(c):
		return 0, mcp.ErrNoTaskID
	case g.Tasks.HasNoSuchMethod(c):
		return 0, mcp.ErrNoSuchMethod
	}
	return Upstreams, nil
}
