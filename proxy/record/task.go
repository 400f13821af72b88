package record

import (
	"context"
	"errors"
	"strings"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/proxy/polls"
	"berth/routing"
	"berth/sticky"
)

// Creation binds a task to the upstream that has just given it out in an answer to w's call. One
// that another owns is withdrawn, and so is one that nobody could ask for. origin is sticky.Binding.Origin.
func (r *Recorder) Creation(w outbound.Way, u *routing.Upstream, a *mcp.Answer, origin string) error {
	if !mcp.IsTaskID(a.Task.ID, r.Settings.LongestTaskID) {
		w.Log.Warn("an upstream gave out a task id that is too long, or holds control characters", "pool", r.Pool().Name(), "upstream", u.Name, "bytes", len(a.Task.ID))
		w.Withdraw(u, a.Task.ID)
		return fault.OddTask
	}
	ctx, cancel := r.Recording()
	defer cancel()
	key := r.Endpoint.Router.TaskKey(r.Principal, a.Task.ID)
	binding := sticky.Binding{Upstream: u.Name, Dialect: a.Dialect.String(), Status: a.Task.Status, Alias: r.At.Alias, Tool: r.tool(), Origin: origin}
	if r.Session != "" {
		binding.Session = seal.Digest(r.Session)
	}
	err := r.Endpoint.Router.Bind(ctx, key, binding, a.Task.TTL)
	if errors.Is(err, sticky.ErrOwned) {
		owner, _, _ := r.Endpoint.Router.Bindings.Peek(ctx, key) // "" where the store has just gone
		w.Log.Warn("an upstream gave out a task id that another owns", "pool", r.Pool().Name(), "upstream", u.Name, "owner", owner.Upstream, "task", a.Task.ID)
		w.Withdraw(u, a.Task.ID)
		return fault.Collision
	}
	u.Made()
	r.Stale.PutNew(r.Call, &key, a)
	return err
}

// tool is the tool that the call is of; "" if that is not clear.
func (r *Recorder) tool() string {
	if c := r.Single(); c != nil && c.Method == mcp.MethodCallTool {
		return strings.Clone(c.Name) // a part of the request would keep all of it
	}
	return ""
}

// TellsState reports whether an answer tells how the task fares that was asked about.
func TellsState(c *mcp.Call, a *mcp.Answer) bool {
	return c.Method != mcp.MethodTaskResult && a.Task.ID == c.TaskID
}

// Task notes a task's state, or its result, as its owner tells it. The binding has the state
// only from u's own answer. lead is the call as a poll that others may join; nil: it is none. left says that the call's client is there no
// more. given says that the answer bears the task's outcome, and is given to somebody.
func (r *Recorder) Task(u *routing.Upstream, c *mcp.Call, lead *polls.Poll, a *mcp.Answer, left bool) (given bool) {
	now := r.Now()
	if c.Method == mcp.MethodTaskResult {
		given = !left
		r.Stale.PutResult(r.Call, &r.At.Task, a, now)
		r.seen(u, sticky.Seen{At: now, Ended: true, Given: given})
	}
	if !TellsState(c, a) {
		return given
	}
	ended := a.Task.Terminal()
	r.seen(u, sticky.Seen{
		At: now, Status: a.Task.Status, TTL: a.Task.TTL,
		Ended: ended, Given: ended && (c.Era == mcp.EraModern || a.Task.Status == cancelled),
	})
	if c.Method == mcp.MethodGetTask {
		r.Stale.Put(r.Call, lead, &r.At.Task, a, now)
	}
	return given || ended && a.Task.Status != cancelled && c.Era == mcp.EraModern && c.Method == mcp.MethodGetTask
}

// Resumed notes the result of a task that u gives on a stream which its client goes on with: it answers a tasks/result whose own stream
// broke, and says itself of which task it is (2025-11-25, tasks, "Related Task Metadata").
func (r *Recorder) Resumed(u *routing.Upstream, message []byte, a *mcp.Answer) {
	id := mcp.RelatedTask(message)
	if id == "" {
		return
	}
	ctx, cancel := r.Recording()
	defer cancel()
	key, now := r.Endpoint.Router.TaskKey(r.Principal, id), r.Now()
	binding, _, err := r.Endpoint.Router.Bindings.Lookup(ctx, key)
	if err != nil || binding.Upstream != u.Name || binding.Provisional() {
		return
	}
	r.Stale.PutResult(r.Call, &key, a, now)
	r.Endpoint.Router.Observe(key, &binding, sticky.Seen{At: now, Ended: true, Given: true})
}

// Failure notes an error that u gives in place of a task's result: what came of a task that is known to have failed, and else what may
// have come of it, until u says otherwise. left is that of Task.
func (r *Recorder) Failure(u *routing.Upstream, c *mcp.Call, a *mcp.Answer, left bool) {
	if c == nil || !c.IsTask() || c.Method != mcp.MethodTaskResult {
		return
	}
	binding := r.At.TaskBinding()
	known := binding.Status == failed
	if !known && (isAboutRequest(a.ErrorCode) || r.asksAside(binding)) {
		return
	}
	r.seen(u, sticky.Seen{At: r.Now(), Ended: true, Given: known && !left})
}

// isAboutRequest reports whether an error says that a request was not understood or not served, and nothing of what it is about.
func isAboutRequest(code int) bool {
	switch code {
	case mcp.CodeParse, mcp.CodeInvalidRequest, mcp.CodeMethodNotFound, mcp.CodeInvalidParams, mcp.CodeRateLimited, mcp.CodeUnavailable, mcp.CodeTimeout:
		return true
	}
	return false
}

// Ends of tasks: cancelled is one without an outcome, failed one whose outcome may be an error.
const cancelled, failed = "cancelled", "failed"

// seen notes what u tells of the call's task. A session without principals that cannot be opened anew leads there by itself, so
// that the task's binding was not read: it is only where the task has ended, once.
func (r *Recorder) seen(u *routing.Upstream, seen sticky.Seen) {
	binding := r.At.TaskBinding()
	if binding.Upstream == "" && seen.Ended {
		ctx, cancel := r.Recording()
		defer cancel()
		binding = new(sticky.Binding)
		_, _ = r.Endpoint.Router.Bindings.LookupInto(ctx, &r.At.Task, binding)
	}
	if binding.Upstream == u.Name && !binding.Provisional() {
		r.Endpoint.Router.Observe(r.At.Task, binding, seen)
	}
}

// Deleted drops what is kept of a task that its owner u has just deleted.
func (r *Recorder) Deleted(u *routing.Upstream) {
	r.Stale.Drop(r.Call, &r.At.Task)
	r.unbindFrom(u)
}

// Error drops the binding of a task that its owner does not know any more.
// An upstream that was asked because it holds the session need not be the owner, and
// cannot speak for it. A terminal result that was seen before outlives the binding: it is
// to be said instead. The binding of a task that has ended stays, for others who were told of that. It fails where another berth may
// know more of the end, and where the id is another upstream's by now.
func (r *Recorder) Error(u *routing.Upstream, c *mcp.Call, a *mcp.Answer) (instead []byte, err error) {
	if c == nil || !c.IsTask() || a.ErrorCode != mcp.CodeInvalidParams {
		return nil, nil
	}
	ctx, cancel := r.Recording()
	defer cancel()
	if c.Method == mcp.MethodGetTask || c.Method == mcp.MethodTaskResult {
		switch end, untold := r.Stale.IfDenied(ctx, r.Call); {
		case untold:
			return nil, fault.EndUntold
		case end != nil:
			return end, nil
		}
	}
	// A client that made the id may poll before the owner has begun; that one will know it.
	binding := r.At.TaskBinding()
	switch {
	case binding.Upstream != u.Name || binding.Provisional() || r.asksAside(binding):
	case r.isElsewhere(ctx, binding):
		return nil, fault.OwnerElsewhere
	case c.Method == mcp.MethodGetTask && polls.EndElsewhere(ctx, r.Call) == "":
		r.unbindFrom(u)
	}
	return nil, nil
}

// isElsewhere reports whether the id of the call's task, which this process remembers as an upstream's, is another one's by now: its owner
// has denied it at another berth, and that one gave it out since. Who asks again is led there.
func (r *Recorder) isElsewhere(ctx context.Context, remembered *sticky.Binding) bool {
	if remembered.MayYield(sticky.Task) { // it was read
		return false
	}
	bindings := r.Endpoint.Router.Bindings
	standing, err := bindings.Latest(ctx, r.At.Task)
	if err != nil || standing.Upstream == remembered.Upstream {
		return false
	}
	_, err = bindings.Reload(ctx, r.At.Task)
	return err == nil
}

// asksAside reports whether the call is in another session than the one that made its task: a server may tell of that in its own
// session alone.
func (r *Recorder) asksAside(task *sticky.Binding) bool {
	return r.At.Visits || r.Session != "" && task.Session != "" && task.Session != seal.Digest(r.Session)
}

// unbindFrom drops the binding of the call's task by which it was led to u, if u owns it still: somebody may have
// given the id out meanwhile.
func (r *Recorder) unbindFrom(u *routing.Upstream) {
	ctx, cancel := r.Recording()
	defer cancel()
	binding, bindings := *r.At.TaskBinding(), r.Endpoint.Router.Bindings
	if binding.Upstream == "" { // it was led there by its session
		binding, _, _ = bindings.Lookup(ctx, r.At.Task)
	}
	if binding.Upstream == u.Name {
		bindings.UnbindAs(ctx, r.At.Task, &binding)
	}
}
