package tasks

import (
	"context"
	"errors"

	"berth/internal/mcp/inquiry"
	"berth/internal/storage"
	"berth/proxy/audit"
	"berth/proxy/outbound"
	"berth/upgrade"
)

// Create makes a task of the call, which a rule says is one. plain leaves it to an upstream as
// any other, where the rule says so for a store that is away.
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
	creation.Withhold, creation.Declares, creation.Version, creation.Prefer = wait.withhold(), inquiry.DeclaredIn(r.Single().Capabilities()), r.Version(), r.Root.Preferred()
	creation.AtOnce = wait.most() > 0
	if key != "" {
		return false, r.createOnce(ctx, creation, key)
	}
	held, err := r.Face.Tasks.Maker.Create(ctx, creation)
	switch {
	case errors.Is(err, storage.ErrUnavailable) && rule.OnStoreDown != upgrade.StoreRefuse && r.HTTP.Context().Err() == nil:
		return true, nil
	case err != nil:
		return false, err
	case wait.most() > 0:
		return false, r.awaitAnswer(held, wait)
	}
	if err := held.HandOut(func() error { return r.handUnlessGone(held) }); err != nil {
		held.Discard()
		return false, err
	}
	held.Start(nil)
	held.Handed()
	return false, nil
}

// Outlook returns what would keep the call, which a rule says becomes a task, from becoming one now; nil: nothing that is known before
// it is tried. Nothing is made or counted.
func (f *Face) Outlook(ctx context.Context, w outbound.Way, key string) error {
	return f.Tasks.Maker.Outlook(ctx, creationOf(w, f.Rule(w.Call)), key)
}

// creation is the call as a task, less what the dialect says.
func (r *Request) creation(rule *upgrade.Rule) upgrade.Creation {
	c := creationOf(r.Way, rule)
	c.Origin = r.Rec.Origin()
	return c
}

func creationOf(w outbound.Way, rule *upgrade.Rule) upgrade.Creation {
	return upgrade.Creation{Rule: rule, Tool: w.Single().Name, Asker: w.Asker(), Caller: w.Caller, Credentials: w.Digests(), Call: w.HeldCall()}
}

// createOnce makes a task of a call that has a name, whatever the rule says of waiting
// for its answer or of a store that is away: neither could be repeated. A refusal can be,
// for it leaves no task. From its record on the task does not depend on the client: another
// of its requests may have the handle.
func (r *Request) createOnce(ctx context.Context, c upgrade.Creation, key string) error {
	wait := patience{grace: c.Rule.RefusalGrace, lasting: true}
	c.Withhold = wait.withhold()
	held, earlier, err := r.Face.Tasks.Maker.CreateOnce(ctx, c, key, r.Root.Charge)
	switch {
	case err != nil:
		return err
	case held == nil:
		err := r.handOut(&earlier)
		r.Rec.Does(audit.None, "") // it was made before
		return err
	}
	return r.beginLasting(held, wait)
}
