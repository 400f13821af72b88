package tasks

import (
	"context"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/proxy/announce"
	"berth/proxy/fault"
	"berth/sticky"
	"berth/upgrade"
)

// CoreCall is a call that asks to be made a task, and becomes one where it was routed to.
type CoreCall struct {
	rule *upgrade.Rule
	ttl  time.Duration
	key  string
}

// AsCoreCall judges a call that asks to be made a task, and that was routed: it becomes one
// where it may, is refused where berth has said that tasks are its affair, and is left to the
// upstream elsewhere, with nil.
func (r *Request) AsCoreCall(ctx context.Context, announcer *announce.Announcer) (*CoreCall, error) {
	rule, core := r.Face.Rule(r.Call), r.Negotiated(r.At) == mcp.VersionCoreTasks
	switch {
	case !core && isRequired(rule):
		return nil, fault.TaskRequired
	case !core:
		return nil, nil
	case rule != nil && announcer.MayMakeTask(ctx, r.Way, r.At):
		return r.coreCall(rule)
	case announcer.Promised(r.At) == sticky.TasksAdded:
		return nil, fault.NoTaskSupport
	}
	return nil, nil
}

func (r *Request) coreCall(rule *upgrade.Rule) (*CoreCall, error) {
	if err := CheckServed(r.Call, r.Rec); err != nil {
		return nil, err
	}
	ttl, err := r.AskedTTL()
	if err != nil {
		return nil, err
	}
	key, err := r.OnceKey()
	if err != nil {
		return nil, err
	}
	return &CoreCall{rule, ttl, key}, nil
}

// CreateCore makes a task of the call, and hands it out. A store that is away is no
// reason to call the tool plainly, whatever the rule says: the client would take the result
// for a broken handle, and it would be lost with all that the tool did. From its record
// on the task does not depend on the client, whose departure means nothing in this era.
func (r *Request) CreateCore(ctx context.Context, c *CoreCall) error {
	r.At.Source = sourceUpgraded
	creation, wait := r.coreCreation(c), patience{grace: c.rule.RefusalGrace, lasting: true}
	if c.key != "" {
		return r.createOnce(ctx, creation, c.key)
	}
	creation.Withhold = wait.withhold()
	held, err := r.Face.Tasks.Maker.Create(ctx, creation)
	if err != nil {
		return err
	}
	return r.beginLasting(held, wait)
}

// coreCreation is the call as a task that lives where the request was routed to.
func (r *Request) coreCreation(call *CoreCall) upgrade.Creation {
	c := r.creation(call.rule)
	c.Core, c.Session, c.TTL, c.Version, c.Prefer = true, r.Session, call.ttl, r.Negotiated(r.At), r.Pool().Home(r.Work(r.At.Prefer))
	if owner := r.At.Owner; owner != nil {
		c.Prefer = owner.Name
	}
	if r.InSession {
		c.Declares = inquiry.Declared(r.At.Binding.Declares)
	}
	return c
}
