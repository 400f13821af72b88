package tasks

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/upgrade"
)

// Create makes a task of the call, which a rule says is one. plain leaves it to an upstream as any other,
// where the rule says so for a store that is away.
func (r *Request) Create(ctx context.Context) (plain bool, err error) {
	if err := CheckServed(r.Call, r.Rec); err != nil {
		return false, err
	}
	rule := r.Face.Rule(r.Call)
	r.At.Source = sourceUpgraded
	key, err := r.OnceKey()
	if err != nil {
		return false, err
	}
	wait := patience{after: rule.After, grace: rule.RefusalGrace}
	creation := r.creation(rule)
	creation.Withhold, creation.Declares, creation.Version, creation.Prefer = wait.withhold(), r.Single().Declares(), r.Version(), r.Root.Preferred()
	if key != "" {
		return false, r.createOnce(ctx, creation, key)
	}
	held, err := r.Face.Tasks.Create(ctx, creation)
	switch {
	case errors.Is(err, storage.ErrUnavailable) && rule.OnStoreDown != upgrade.StoreRefuse && r.HTTP.Context().Err() == nil:
		return true, nil
	case err != nil:
		return false, err
	case wait.most() > 0:
		return false, r.attend(held, wait)
	}
	if err := held.HandOut(func() error { return r.hand(held) }); err != nil {
		held.Discard()
		return false, err
	}
	held.Start(nil)
	held.Handed()
	return false, nil
}

// creation is the call as a task, less what the dialect says.
func (r *Request) creation(rule *upgrade.Rule) upgrade.Creation {
	return upgrade.Creation{
		Rule: rule, Tool: r.Single().Name, Asker: r.Asker(), Caller: r.Caller, Credentials: r.Digests(), Call: r.HeldCall(),
	}
}

// createOnce makes a task of a call that has a name, whatever the rule says of waiting
// for its answer or of a store that is away: neither could be repeated. A refusal can be,
// for it leaves no task. From its record on the task does not depend on the client: another
// of its requests may have the handle.
func (r *Request) createOnce(ctx context.Context, c upgrade.Creation, key string) error {
	wait := patience{grace: c.Rule.RefusalGrace, lasting: true}
	c.Withhold = wait.withhold()
	held, earlier, err := r.Face.Tasks.CreateOnce(ctx, c, key)
	switch {
	case err != nil:
		return err
	case held == nil:
		return r.handOut(earlier)
	}
	return r.beginLasting(held, wait)
}

// beginLasting starts a call and hands its task out, whether the client is there still or
// not, once it has waited for a refusal.
func (r *Request) beginLasting(held *upgrade.Held, p patience) error {
	if p.most() > 0 {
		return r.attend(held, p)
	}
	view := upgrade.View{Task: held.Task()}
	held.Start(nil)
	defer held.Handed()
	return held.HandOut(func() error { return r.handOut(view) })
}

// hand gives the client the task's handle as the whole answer.
func (r *Request) hand(held *upgrade.Held) error {
	if r.HTTP.Context().Err() != nil {
		return fault.ErrClientGone
	}
	return r.handOut(upgrade.View{Task: held.Task()})
}

// handOut answers with the handle of the task in view.
func (r *Request) handOut(view upgrade.View) error {
	r.Rec.Task, r.Rec.Holder = view.ID, view.Holder
	r.Out.Respond(wire.StatusOK, mcp.Response(r.ID, r.handle(view)))
	if r.Out.Failed != nil {
		return r.Out.Failed
	}
	return r.Out.Flush()
}

// handle words the handle of a task as the client's era has it.
func (r *Request) handle(view upgrade.View) []byte {
	if r.Era() == mcp.EraLegacy {
		return view.Core().Handle()
	}
	return view.Handle()
}
