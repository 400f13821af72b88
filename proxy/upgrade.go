package proxy

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/access"
	"berth/proxy/fault"
	"berth/routing"
	"berth/upgrade"
)

// upgradable reports whether the request is a call that becomes a task: one to a tool
// that a rule names, by a client that takes tasks.
func (x *request) upgradable() bool {
	c := x.Single()
	return x.p.options.Tasks != nil && c != nil && c.Era == mcp.EraModern && c.DeclaresTasks && x.rule() != nil
}

// mustTakeTasks refuses a client that cannot take the task which the rule insists on. In
// a batch, of which nobody gets a task, no such tool is called.
func (x *request) mustTakeTasks() error {
	if x.Message.Batch && slices.ContainsFunc(x.Message.Calls, x.callsRequired) {
		return fault.RequiredInBatch
	}
	rule := x.rule()
	switch {
	case rule == nil || !rule.Required || x.upgradable() || x.asksCoreTask():
		return nil
	case x.Single().Era == mcp.EraModern:
		return cmp.Or(x.checkServed(), error(mcp.ErrMissingTasks))
	}
	return fault.TaskRequired
}

func (x *request) callsRequired(c mcp.Call) bool {
	rule := x.ruleOf(&c)
	return rule != nil && rule.Required
}

// upgradeCall makes a task of the call, or leaves it a plain one where the rule says so
// for a store that is away.
func (x *request) upgradeCall() error {
	if err := x.checkServed(); err != nil {
		return err
	}
	rule := x.rule()
	x.decision.Source = routing.SourceUpgraded
	key, err := x.OnceKey()
	if err != nil {
		return err
	}
	wait := patience{after: rule.After, grace: rule.RefusalGrace}
	creation := upgrade.Creation{
		Rule: rule, Withhold: wait.withhold(), Declares: x.Single().Declares(), Tool: x.Single().Name, Version: x.Version(),
		Asker: x.Asker(), Caller: x.Caller, Credentials: x.Digests(), Prefer: x.preferred(), Call: x.way().HeldCall(),
	}
	if key != "" {
		return x.upgradeOnce(creation, key)
	}
	held, err := x.p.options.Tasks.Create(x.ctx, creation)
	switch {
	case errors.Is(err, storage.ErrUnavailable) && rule.OnStoreDown != upgrade.StoreRefuse && x.HTTP.Context().Err() == nil:
		return x.dispatch()
	case err != nil:
		return err
	case wait.most() > 0:
		return x.attend(held, wait)
	}
	if err := held.HandOut(func() error { return x.hand(held) }); err != nil {
		held.Discard()
		return err
	}
	held.Start(nil)
	held.Handed()
	return nil
}

// preferred names the upstream that the call would go to as a plain one, "" if any will
// do: it may be kept together with others, or continue what another call began.
func (x *request) preferred() string {
	d, err := x.Endpoint.Router.Decide(x.ctx, x.query())
	switch {
	case err != nil:
		return ""
	case d.Owner != nil:
		return d.Owner.Name
	}
	return d.Prefer
}

// hand gives the client the task's handle as the whole answer.
func (x *request) hand(held *upgrade.Held) error {
	if x.HTTP.Context().Err() != nil {
		return fault.ErrClientGone
	}
	return x.handOut(upgrade.View{Task: held.Task()})
}

// handOut answers with the handle of the task in view.
func (x *request) handOut(view upgrade.View) error {
	x.rec.Task, x.rec.Holder = view.ID, view.Holder
	x.out.Respond(wire.StatusOK, mcp.Response(x.ID, x.handle(view)))
	if x.out.Failed != nil {
		return x.out.Failed
	}
	return x.out.Flush()
}

// handle words the handle of a task as the client's era has it.
func (x *request) handle(view upgrade.View) []byte {
	if x.Era() == mcp.EraLegacy {
		return view.Core().Handle()
	}
	return view.Handle()
}

// isUpgraded reports whether the request is about a task of berth's own making, by a method
// that such tasks have. What any other method asks is not told by whose the task is, nor by
// whether there is one: it goes the way of an id that nobody knows. It fails while nobody
// can say.
func (x *request) isUpgraded(ctx context.Context) (bool, error) {
	c := x.Single()
	if x.p.options.Tasks == nil || c == nil || !c.IsTask() || !hasMethod(c) {
		return false, nil
	}
	return x.p.options.Tasks.Owns(ctx, c.TaskID)
}

// hasMethod reports whether tasks of berth's own making have the call's method, in the
// dialect of its era.
func hasMethod(c *mcp.Call) bool {
	switch c.Method {
	case mcp.MethodGetTask, mcp.MethodCancelTask:
		return true
	case mcp.MethodTaskResult:
		return c.Era == mcp.EraLegacy
	case mcp.MethodUpdateTask:
		return c.Era == mcp.EraModern
	}
	return false
}

// serveUpgraded answers a request about a task of berth's own making.
func (x *request) serveUpgraded() error {
	c := x.Single()
	x.decision.Source = routing.SourceUpgraded
	if c.Era == mcp.EraLegacy {
		return x.serveCore()
	}
	if isInExtension(c.Method) {
		if err := x.checkServed(); err != nil {
			return err
		}
	}
	if !c.DeclaresTasks {
		return mcp.ErrMissingTasks
	}
	tasks := x.p.options.Tasks
	switch c.Method {
	case mcp.MethodGetTask:
		view, err := tasks.Get(x.ctx, c.TaskID, x.Asker())
		defer view.Return()
		x.rec.Holder = view.Holder
		if err := x.caller().MayHear(x.ctx, view.Task, err); err != nil {
			return err
		}
		x.out.Respond(wire.StatusOK, view.Response(x.ID)...)
		return nil
	case mcp.MethodUpdateTask:
		answers, err := mcp.InputResponses(x.Body)
		if err != nil {
			return err
		}
		if err := x.mayChange(c.TaskID); err != nil {
			return err
		}
		envelope := x.way().Envelope()
		return x.acknowledge(tasks.Update(x.ctx, c.TaskID, x.Asker(), answers, &envelope))
	case mcp.MethodCancelTask:
		_, err := x.cancelUpgraded()
		if errors.Is(err, upgrade.ErrTerminal) {
			err = nil // an end is acknowledged here (Tasks extension, "Task Cancellation")
		}
		return x.acknowledge(err)
	}
	return mcp.ErrNoSuchMethod
}

// isInExtension: what else is asked of a task is no method, however it is asked.
func isInExtension(method string) bool {
	return method == mcp.MethodGetTask || method == mcp.MethodUpdateTask || method == mcp.MethodCancelTask
}

// cancelUpgraded gives up the task that the request is about, in the caller's name. Its
// errors are those of upgrade.Tasks.Cancel, and of mayChange.
func (x *request) cancelUpgraded() (upgrade.Task, error) {
	id := x.Single().TaskID
	if err := x.mayChange(id); err != nil {
		return upgrade.Task{}, err
	}
	who, envelope := x.Asker(), x.way().Envelope()
	who.Envelope = &envelope
	return x.p.options.Tasks.Cancel(x.ctx, id, who)
}

// mayChange refuses who must not be told of the task.
func (x *request) mayChange(id string) error {
	task, err := x.p.options.Tasks.Peek(x.ctx, id, x.Asker())
	x.rec.Holder = task.Holder
	return x.caller().MayHear(x.ctx, task, err)
}

// caller is who asks for tasks of berth's own making.
func (x *request) caller() access.Caller { return x.p.access.Caller(x.way()) }

// acknowledge answers with an empty result, unless err says otherwise.
func (x *request) acknowledge(err error) error {
	if err != nil {
		return err
	}
	x.out.Respond(wire.StatusOK, mcp.EmptyResponse(x.ID))
	return nil
}

// hasNoSuchMethod reports whether the request asks for what the Tasks extension does not
// have, of a pool whose tasks berth makes: the servers behind know nothing of them.
func (x *request) hasNoSuchMethod() bool {
	c := x.Single()
	if c == nil || c.Era != mcp.EraModern || !x.p.options.Rules.In(x.PoolName()) {
		return false
	}
	return c.Method == mcp.MethodTaskResult || c.Method == mcp.MethodListTasks
}
