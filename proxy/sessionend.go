package proxy

import (
	"context"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/failover"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/upgrade"
)

// maxCreators bounds the tasks that are looked at for who made them when a session ends.
const maxCreators = 8

// refuseEnded refuses a request in a session that its client has ended while calls were
// held in it: its upstream still holds it, and must not be spoken to. While the store
// cannot say, requests go on.
func (x *request) refuseEnded() error {
	if !x.isInRuledSession() {
		return nil
	}
	if over, err := x.p.options.Tasks.SessionOver(x.ctx, x.SessionKey()); err == nil && over {
		return routing.ErrUnknownSession
	}
	return nil
}

// reviveSession takes back that the session which the answer hands out has ended: its server
// gives it the id of one before, and it is alive at every berth.
func (x *request) reviveSession(ctx context.Context) {
	if x.p.options.Tasks == nil || !x.p.options.Rules.In(x.PoolName()) {
		return
	}
	key := upgrade.SessionKey(x.PoolName(), x.Principal, x.newSession)
	if err := x.p.options.Tasks.ReviveSession(ctx, key); err != nil {
		x.p.log.Debug("a session could not be freed of the end of one before", "pool", x.PoolName(), "error", err)
	}
}

// endSession serves a DELETE of a session at u in which calls are held: the session is
// refused from then on, by every berth, and the upstream's DELETE waits for the last of the
// calls. done is false for any other request, which goes to u.
func (x *request) endSession(u *routing.Upstream) (done bool, err error) {
	if x.HTTP.Method != wire.MethodDelete || !x.mayHoldCalls() || !x.mayEnd() {
		return false, nil
	}
	ctx, cancel := x.Recording()
	defer cancel()
	asks, held, err := x.p.options.Tasks.EndSession(ctx, x.SessionKey(), x.behind())
	if !held {
		return err != nil, err
	}
	if err != nil {
		x.p.log.Debug("it is not known what a session that has ended was asked", "pool", x.PoolName(), "error", err)
	}
	failover.Forget(ctx, x.Endpoint, x.decision.Key)
	x.refuseAsks(u, asks)
	x.out.Header().Set("Content-Length", "0")
	x.out.WriteHeader(wire.StatusOK)
	return true, nil
}

// mayEnd reports whether the caller may end the session although its upstream does not get
// to judge that: berth knows whose the session is, or the caller may ask for a task whose
// call was made in it.
func (x *request) mayEnd() bool {
	if x.Principal != "" {
		return true
	}
	ids, err := x.p.options.Tasks.InSession(x.ctx, x.SessionKey())
	if err != nil || len(ids) == 0 {
		return true // EndSession finds out
	}
	var tasks []upgrade.Task
	for _, id := range ids[:min(len(ids), maxCreators)] {
		if task, err := x.p.watching.Record(x.ctx, id, x.Asker()); err == nil {
			tasks = append(tasks, task)
		}
	}
	return x.caller().MayAskForOne(x.ctx, tasks)
}

// refusalTime bounds what telling servers that nobody answers holds the end of a session up.
const refusalTime = 2 * time.Second

// refuseAsks answers in the client's place what u asks it in calls that are held: tools
// that wait for an answer need not wait for their time-outs.
func (x *request) refuseAsks(u *routing.Upstream, asks []upgrade.OpenAsk) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.HTTP.Context()), refusalTime)
	defer cancel()
	for _, ask := range asks {
		out := x.way().Post(u, mcp.ErrorResponse(ask.ID, fault.SessionEnded.Object()))
		out.Header.Set(mcp.HeaderSession, x.way().SessionAt(ctx, u))
		response, err := outbound.To(x.Endpoint).Send(ctx, u, out, outbound.Terms{Wait: refusalTime})
		if err != nil {
			x.p.log.Debug("an upstream could not be told that nobody answers", "upstream", u.Name, "task", ask.Task, "error", err)
			continue
		}
		_ = response.Body.Close() // the status says it
		if response.Status/100 == 2 {
			x.p.options.Tasks.Settle(ctx, ask.Task, ask.ID)
		}
	}
}
