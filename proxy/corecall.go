package proxy

import (
	"time"

	"berth/internal/mcp"
	"berth/proxy/failover"
	"berth/proxy/fault"
	"berth/routing"
	"berth/sticky"
	"berth/upgrade"
)

// asksCoreTask reports whether the request is a call that asks to be made a task, as
// clients of 2025-11-25 do, in a pool whose tools' calls may become tasks.
func (x *request) asksCoreTask() bool {
	c := x.Single()
	return x.p.options.Tasks != nil && c != nil && c.AsksTask() && !c.MakesTask() && x.p.options.Rules.In(x.PoolName())
}

// callAsTask serves a call that asks to be made a task, and that was routed: it becomes one
// where it may, is refused where berth has said that tasks are its affair, and is left to
// the upstream elsewhere.
func (x *request) callAsTask() error {
	announcer := x.p.learned[x.Endpoint].announcer
	rule, core := x.rule(), x.Negotiated(&x.decision) == mcp.VersionCoreTasks
	switch {
	case !core && rule != nil && rule.Required:
		return fault.TaskRequired
	case !core:
		return x.deliver()
	case rule != nil && announcer.MayMakeTask(x.ctx, x.way(), &x.decision):
		return x.makeCoreTask(rule)
	case announcer.Promised(&x.decision) == sticky.TasksAdded:
		return fault.NoTaskSupport
	}
	return x.deliver()
}

// makeCoreTask makes a task of the call, and hands it out. A store that is away is no
// reason to call the tool plainly, whatever the rule says: the client would take the result
// for a broken handle, and it would be lost with all that the tool did. From its record
// on the task does not depend on the client, whose departure means nothing in this era.
func (x *request) makeCoreTask(rule *upgrade.Rule) error {
	if err := x.checkServed(); err != nil {
		return err
	}
	ttl, err := x.AskedTTL()
	if err != nil {
		return err
	}
	key, err := x.OnceKey()
	if err != nil {
		return err
	}
	if done, err := x.leaveLost(); done {
		return err
	}
	x.decision.Source = routing.SourceUpgraded
	creation, wait := x.coreCreation(rule, ttl), patience{grace: rule.RefusalGrace, lasting: true}
	if key != "" {
		return x.upgradeOnce(creation, key)
	}
	creation.Withhold = wait.withhold()
	held, err := x.p.options.Tasks.Create(x.ctx, creation)
	if err != nil {
		return err
	}
	return x.beginLasting(held, wait)
}

// coreCreation is the call as a task that lives where the request was routed to.
func (x *request) coreCreation(rule *upgrade.Rule, ttl time.Duration) upgrade.Creation {
	c := upgrade.Creation{
		Rule: rule, Tool: x.Single().Name, Version: x.Negotiated(&x.decision), Asker: x.Asker(), Caller: x.Caller, Credentials: x.Digests(),
		Prefer: x.decision.Prefer, Call: x.way().HeldCall(), Core: true, Session: x.Session, TTL: ttl,
	}
	if owner := x.decision.Owner; owner != nil {
		c.Prefer = owner.Name
	}
	if x.decision.Key.Kind == sticky.Session {
		c.Declares = mcp.Declared(x.decision.Binding.Declares)
	}
	return c
}

// leaveLost takes the request away from where its session is not any more, as far as that
// is known: a call that is held there would only fail. done is false if it may stay.
func (x *request) leaveLost() (done bool, err error) {
	owner := x.decision.Owner
	if owner == nil {
		return false, nil
	}
	lost, judge := x.lost(owner, nil), x.p.mover.Suspected
	switch {
	case lost && x.keptTogether():
		x.leaveOwner()
		return false, nil
	case lost:
		judge = x.p.mover.Lost
	}
	if v := judge(x.ctx, x.asCase(), owner); v.Step != failover.Stay {
		return true, x.act(v)
	}
	if lost {
		return true, x.outOfReach(owner, nil)
	}
	return false, nil
}

// beginLasting starts a call and hands its task out, whether the client is there still or
// not, once it has waited for a refusal.
func (x *request) beginLasting(held *upgrade.Held, p patience) error {
	if p.most() > 0 {
		return x.attend(held, p)
	}
	view := upgrade.View{Task: held.Task()}
	held.Start(nil)
	defer held.Handed()
	return held.HandOut(func() error { return x.handOut(view) })
}
