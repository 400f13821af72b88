package proxy

import (
	"errors"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/failover"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/sticky"
)

// peeked is what a piece of an answer says, read once for all who ask.
type peeked struct {
	mcp.Answer
	err error // why it is no message that can be read; a batch is none
}

// peek reads a message of an answer.
func (x *request) peek(message []byte, cut bool) peeked {
	if len(message) == 0 {
		return peeked{}
	}
	asked := ""
	if c := x.Single(); c != nil {
		asked = c.TaskID
	}
	a, err := mcp.PeekAnswerTo(asked, message, cut)
	return peeked{a, err}
}

// observe looks at what a piece of an answer says and records it, before the
// piece is released. instead, if not nil, is a message of our own to give to the
// client in its place; an error means that it must be withheld. strict says that
// an answer which cannot be understood is one of these.
func (x *request) observe(u *routing.Upstream, piece exchange.Piece, says peeked, strict bool) (instead []byte, err error) {
	x.change.Done()
	if len(piece.Message) == 0 {
		return nil, nil
	}
	x.announced.Observe(piece)
	for message, err := range mcp.Messages(piece.Message) {
		x.made.Heed(u, message)
		a := says
		switch {
		case err == nil && len(message) != len(piece.Message):
			a = x.peek(message, piece.Cut)
		case err != nil && piece.Cut:
			return nil, nil // the batch goes on
		case err != nil:
			a = peeked{err: err}
		}
		if a.err != nil {
			if !strict {
				continue
			}
			if x.MayCreateTask {
				x.way().Withdraw(u, a.Task.ID)
			}
			return nil, fault.BrokenOff(a.err)
		}
		if instead, err := x.record(u, &a.Answer); instead != nil || err != nil {
			return instead, err
		}
	}
	return nil, nil
}

// record notes what one message of an answer tells.
func (x *request) record(u *routing.Upstream, a *mcp.Answer) (instead []byte, err error) {
	if a.Method != "" {
		return nil, nil
	}
	x.owed.begin(a)
	c := x.Single()
	x.rec.ToolFailed = a.ToolFailed
	if a.IsError {
		x.rec.Code = a.ErrorCode
		x.made.Disown(a)
		return x.recordError(u, c, a), nil
	}
	x.learnAffinity(u, c, a)
	if c != nil && a.Result != nil && (c.Method == mcp.MethodInitialize || c.Method == mcp.MethodDiscover) {
		versions, capabilities := mcp.Offer(a.Result)
		u.Declares(c.Era, versions, capabilities)
	}
	switch {
	case c != nil && c.IsTask() && c.Method == mcp.MethodDeleteTask:
		x.forgetTask(u)
		return nil, nil
	case c != nil && c.IsTask():
		return nil, x.recordTask(u, c, a)
	case a.CreatesTask():
		err := x.recordCreation(u, a)
		x.made.Disown(a) // the server made the id
		return nil, err
	case c == nil:
		return nil, nil
	case c.Method == mcp.MethodInitialize:
		return nil, x.bindSession(u, a.Version)
	}
	failover.Granted(x.asCase())
	x.recordHint(u, c, a)
	return nil, nil
}

// recordCreation binds a task to the upstream that has just given it out.
func (x *request) recordCreation(u *routing.Upstream, a *mcp.Answer) error {
	ctx, cancel := x.Recording()
	defer cancel()
	key := x.Endpoint.Router.TaskKey(x.Principal, a.Task.ID)
	binding := sticky.Binding{Upstream: u.Name, Dialect: a.Dialect.String(), Status: a.Task.Status, Alias: x.decision.Alias}
	if x.Session != "" {
		binding.Session = inbound.Digest(x.Session)
	}
	err := x.Endpoint.Router.Bind(ctx, key, binding, a.Task.TTL)
	if errors.Is(err, sticky.ErrOwned) {
		x.p.log.Warn("an upstream gave out a task id that another owns", "pool", x.Pool().Name(), "upstream", u.Name, "task", a.Task.ID)
		x.way().Withdraw(u, a.Task.ID)
		return fault.Collision
	}
	x.p.stale.Drop(x.Call, key) // it was another's, if there was one
	x.p.stale.Put(x.Call, key, a)
	return err
}

// recordTask notes a task's state as its owner tells it. It fails if that is another
// principal's by now.
func (x *request) recordTask(u *routing.Upstream, c *mcp.Call, a *mcp.Answer) error {
	key := x.decision.Task
	switch {
	case c.Method == mcp.MethodTaskResult:
		x.p.stale.PutResult(x.Call, key, a)
		return nil
	case a.Task.ID != c.TaskID:
		return nil
	}
	if err := x.recordState(u, key, a); err != nil {
		return err
	}
	if c.Method == mcp.MethodGetTask {
		x.p.stale.Put(x.Call, key, a)
	}
	return nil
}

// recordState notes what u tells of a task in the binding of that, if u is its owner.
func (x *request) recordState(u *routing.Upstream, key sticky.Key, a *mcp.Answer) error {
	if drafted, err := x.made.Told(u, a.Task.Status); drafted {
		return err
	}
	if binding := x.decision.TaskBinding; binding.Upstream == u.Name {
		x.Endpoint.Router.Observe(key, binding, a.Task.Status, a.Task.TTL)
	}
	return nil
}

// recordError drops the binding of a task that its owner does not know any more.
// An upstream that was asked because it holds the session need not be the owner, and
// cannot speak for it. A terminal result that was seen before outlives the binding.
func (x *request) recordError(u *routing.Upstream, c *mcp.Call, a *mcp.Answer) (instead []byte) {
	if c != nil && a.ErrorCode == mcp.CodeMethodNotFound && x.p.learned[x.Endpoint].announcer.Serves(x.Call, &x.decision) {
		x.rec.Code = mcp.ErrUnknownTask.Code
		return mcp.ErrUnknownTask.Body(x.ID)
	}
	if c == nil || !c.IsTask() || a.ErrorCode != mcp.CodeInvalidParams {
		return nil
	}
	if c.Method != mcp.MethodGetTask && c.Method != mcp.MethodTaskResult {
		return nil
	}
	if body := x.p.stale.End(x.Call); body != nil {
		return body
	}
	// A client that made the id may poll before the owner has begun; that one will know it.
	binding := x.decision.TaskBinding
	if c.Method == mcp.MethodGetTask && binding.Upstream == u.Name && !binding.Provisional() {
		x.unbindFrom(u)
	}
	return nil
}

// unbindFrom drops the binding of the request's task, if u owns it still: somebody may have
// given the id out meanwhile.
func (x *request) unbindFrom(u *routing.Upstream) {
	ctx, cancel := x.Recording()
	defer cancel()
	bindings := x.Endpoint.Router.Bindings
	if binding, _, err := bindings.Lookup(ctx, x.decision.Task); err == nil && binding.Upstream == u.Name {
		bindings.Unbind(ctx, x.decision.Task)
	}
}

// forgetTask drops what is kept of a task that its owner has just deleted.
func (x *request) forgetTask(u *routing.Upstream) {
	x.p.stale.Drop(x.Call, x.decision.Task)
	x.unbindFrom(u)
}

// recordHint remembers who issued a requestState or a list's cursor.
func (x *request) recordHint(u *routing.Upstream, c *mcp.Call, a *mcp.Answer) {
	hint := routing.HintID(c.Method, a.RequestState, a.NextCursor)
	if hint == "" || len(x.Pool().Upstreams()) < 2 {
		return
	}
	ctx, cancel := x.Recording()
	defer cancel()
	x.Endpoint.Router.Bindings.Prefer(ctx, x.Endpoint.Router.HintKey(x.Principal, hint), u.Name)
}

// sessionGivenBy returns the session that an answer to initialize hands out.
func (x *request) sessionGivenBy(response *wire.Response) string {
	c := x.Single()
	if c == nil || c.Method != mcp.MethodInitialize || response.Status/100 != 2 {
		return ""
	}
	return response.Header.Get(mcp.HeaderSession)
}

// bindSession binds the session that this answer hands out, if any: before its
// headers are released, and once more when the negotiated version is known only
// later.
func (x *request) bindSession(u *routing.Upstream, version string) error {
	if x.newSession == "" || x.boundSession && version == "" {
		return nil
	}
	ctx, cancel := x.Recording()
	defer cancel()
	router := x.Endpoint.Router
	key := router.SessionKey(x.Principal, x.newSession)
	binding := sticky.Binding{Upstream: u.Name, Version: version, Tasks: x.announced.Promised(), Declares: x.p.sessions.Declared(x.Call), Kept: failover.Keep(ctx, x.way(), key, version)}
	if x.boundSession {
		router.Bindings.Amend(ctx, key, binding)
		return nil
	}
	x.boundSession = true
	x.p.sessions.Revive(ctx, x.Call, x.newSession)
	if errors.Is(router.Bind(ctx, key, binding, 0), sticky.ErrOwned) {
		return fault.Collision
	}
	return nil
}

// recordSessionEnd forgets a session that its client ended. One that its owner
// does not know any more stays bound until it idles out: the owner is who says so,
// and not every 404 of a server is about the session.
func (x *request) recordSessionEnd(response *wire.Response) {
	if x.Session == "" || x.HTTP.Method != wire.MethodDelete || response.Status/100 != 2 {
		return
	}
	ctx, cancel := x.Recording()
	defer cancel()
	failover.Forget(ctx, x.Endpoint, x.decision.Key)
}
