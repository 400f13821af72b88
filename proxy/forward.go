package proxy

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/routing"
)

// forward routes the request, sends it, and relays the answer.
func (x *request) forward() error {
	x.startSpan()
	end := x.detach()
	defer end()
	switch {
	case x.subscribes():
		return x.listen()
	case x.mayNotList():
		return mcp.ErrNoSuchMethod
	}
	return x.dispatch()
}

// dispatch routes the request and sends it where that says.
func (x *request) dispatch() error {
	if err := x.route(); err != nil {
		return x.unroutable(err)
	}
	if x.isStray() {
		return x.dropStray()
	}
	if x.makesList() {
		return x.listTasks()
	}
	defer x.releaseMade()
	if x.keptTogether() && x.lost(x.decision.Owner, nil) {
		x.leaveOwner()
	}
	if owner := x.decision.Owner; owner != nil {
		_, _ = x.bindMade(owner) // the owner gets the request, whoever had one of the ids before
		return x.forwardOwned(owner)
	}
	return x.forwardUnbound()
}

// forwardOwned sends an owned call to its owner, and to nobody else.
func (x *request) forwardOwned(u *routing.Upstream) error {
	if answered, err := x.coalesce(u); answered {
		return err
	}
	defer x.arrive()
	if u.Silent() && (x.aboutTask() || x.keptTogether()) {
		if x.isOutdated() {
			return x.reroute()
		}
		return x.outOfReach(u, nil)
	}
	lease := x.pool().Own(u)
	defer lease.Release()
	x.stir()
	response, err := x.send(u)
	if err != nil && x.mayRepeat(err) {
		response, err = x.send(u)
	}
	if err != nil {
		lease.Release() // the request may go elsewhere
		x.settle()
		return x.ownerFailed(u, err)
	}
	if x.lacksSession(u, response) {
		lease.Release()
		return x.sessionDenied(u, response)
	}
	return x.relay(u, response)
}

// mayRepeat allows one repetition of an owned call at the same owner: nothing was
// sent, or it was a read. Waiting a second time in vain helps nobody.
func (x *request) mayRepeat(err error) bool {
	var failed *exchange.SendError
	if !errors.As(err, &failed) || failed.TimedOut || failed.Refused || x.gone() {
		return false
	}
	return !failed.Sent || x.readsOnly()
}

// ownerFailed decides what it means that an owner gave no answer.
func (x *request) ownerFailed(u *routing.Upstream, err error) error {
	var failed *exchange.SendError
	if x.gone() || !errors.As(err, &failed) {
		return errClientGone
	}
	x.endpoint.noteFailure(u, failed)
	if x.keptTogether() && !failed.Sent && !failed.Starved && x.lost(u, failed) {
		x.leaveOwner()
		return x.forwardUnbound()
	}
	if !failed.Sent && !failed.Starved {
		if done, err := x.failOver(u); done {
			return err
		}
	}
	return x.outOfReach(u, failed)
}

// outOfReach answers an owned call whose owner does not answer: with the task as
// it was last seen where that is allowed; with the end of the session if that is
// gone with its instance, so that the client begins anew; or with an error that
// says that what it wants is out of reach, not gone. failed is nil if the call was
// not sent, because the owner is known to be silent.
func (x *request) outOfReach(u *routing.Upstream, failed *exchange.SendError) error {
	if x.aboutTask() && x.serveLastSeen(u.DownFor()) {
		return nil
	}
	sent := failed != nil && failed.Sent
	switch {
	case failed != nil && failed.Starved:
		return failed
	case x.session != "" && !x.staysBehind() && x.lost(u, failed):
		return routing.ErrUnknownSession
	case !sent, x.aboutTask() && !(failed.TimedOut && x.call().Method == mcp.MethodGetTask):
		return errOwnerSilent
	}
	return failed
}

// forwardUnbound sends unbound work to the picker's choice, and on to another
// upstream only while nothing was sent, or if it is a pure read.
func (x *request) forwardUnbound() error {
	var tried []*routing.Upstream
	var last error
	for {
		lease, err := x.pool().Pick(x.decision.Prefer, tried)
		if err != nil {
			return cmp.Or(last, err)
		}
		done, err := x.forwardLeased(lease)
		if done {
			return err
		}
		tried, last = append(tried, lease.Upstream), err
	}
}

// forwardLeased sends unbound work to the leased upstream and gives the lease back.
// done is false if another upstream may do the work.
func (x *request) forwardLeased(lease *routing.Lease) (done bool, err error) {
	defer lease.Release()
	u := lease.Upstream
	owner, err := x.bindMade(u)
	if err != nil {
		return true, err
	}
	if owner != u {
		lease.Release()
		return true, x.forwardOwned(owner)
	}
	response, err := x.send(u)
	if err == nil {
		return true, x.relay(u, response)
	}
	var failed *exchange.SendError
	if x.gone() || !errors.As(err, &failed) {
		return true, errClientGone
	}
	x.endpoint.noteFailure(u, failed)
	return failed.Sent && !x.readsOnly(), err
}

// send sends the request to u once.
func (x *request) send(u *routing.Upstream) (*http.Response, error) {
	x.upstream = u.Name
	target := x.endpointURL(u)
	if x.opaque {
		target = x.beside(u)
	}
	out := x.newUpstreamRequest(x.ctx, u, x.r.Method, target, x.body)
	if x.opaque {
		out.Header["Accept-Encoding"] = x.r.Header["Accept-Encoding"]
	}
	x.startExchange(u)
	response, err := x.endpoint.Client.Send(out, x.patience())
	var failed *exchange.SendError
	x.sent = x.sent || !errors.As(err, &failed) || failed.Sent
	if err != nil {
		x.endExchange(exchangeErrorType(err))
		x.noteStarved(err)
	}
	return response, err
}

// noteFailure feeds the health of an upstream that gave no answer. That berth could
// not ask is no failure of the upstream's.
func (ep *Endpoint) noteFailure(u *routing.Upstream, failed *exchange.SendError) {
	if failed.Starved {
		return
	}
	ep.Router.Pool.Failed(u, failed)
	if failed.TimedOut || !failed.Sent {
		ep.Router.Pool.FellSilent(u, failed)
	}
}

// noteAnswer feeds the health of an upstream that answered. A gateway's errors
// say that the server behind is in trouble; what a server says itself, whatever
// it says, does not.
func (ep *Endpoint) noteAnswer(u *routing.Upstream, status int) {
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		ep.Router.Pool.Failed(u, errors.New(http.StatusText(status)))
	default:
		ep.Router.Pool.Succeeded(u)
	}
}

func (x *request) pool() *routing.Pool { return x.endpoint.Router.Pool }

// subscribes reports whether the request opens a subscription. What calls itself one
// within a session is its upstream's to judge.
func (x *request) subscribes() bool {
	c := x.call()
	return c != nil && c.Kind == mcp.KindRequest && c.Method == mcp.MethodListen && x.session == ""
}

// aboutTask reports whether the request is one call about one task.
func (x *request) aboutTask() bool {
	c := x.call()
	return c != nil && c.IsTask()
}

// readsOnly reports whether the request changes nothing, so that it may be sent
// a second time.
func (x *request) readsOnly() bool {
	if len(x.message.Calls) == 0 {
		return x.r.Method != http.MethodDelete
	}
	if x.makesTask() {
		return false
	}
	for i := range x.message.Calls {
		c := &x.message.Calls[i]
		if c.Kind != mcp.KindRequest || !mcp.IsPureRead(c.Method) && c.Method != mcp.MethodGetTask {
			return false
		}
	}
	return true
}

// patience is how long the answer's headers may take.
func (x *request) patience() time.Duration {
	t := x.endpoint.Timeouts
	switch {
	case x.opaque:
		return t.Read
	case len(x.message.Calls) == 0 && x.r.Method == http.MethodGet:
		return t.Call
	case len(x.message.Calls) == 0:
		return t.Control
	case x.readsOnly():
		return t.Read
	}
	if x.makesTask() || x.anyRequest(mcp.MayWait) {
		return t.Call
	}
	return t.Control
}
