package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/sticky"
)

// madeTasks are the tasks of a request whose ids the client made, as far as the request
// bound them.
type madeTasks struct {
	at      *routing.Upstream // what they are bound to; nil: to nobody yet
	binding sticky.Binding    // as it was made
	stop    func()            // ends what prolongs them
}

// bindMade binds the tasks whose ids the client made to u, before u hears of them, and
// returns who owns them: u or, where somebody was first, another. A request that u's
// predecessor got nothing of takes its bindings along.
func (x *request) bindMade(u *routing.Upstream) (owner *routing.Upstream, err error) {
	if len(x.decision.Made) == 0 {
		return u, nil
	}
	ctx, cancel := x.Recording()
	defer cancel()
	x.leaveMade()
	from := x.made.at
	x.made.at, x.made.binding = u, x.madeBinding(u)
	for _, key := range x.decision.Made {
		one, err := x.Endpoint.Router.BindNew(ctx, key, from, x.made.binding)
		if err != nil {
			return nil, err
		}
		if owner != nil && !owner.Is(one) {
			return nil, routing.ErrSeveralOwners
		}
		owner = one
	}
	x.keepMade()
	return owner, nil
}

// madeBinding is what a task of the client's is bound by to u until that has told of it.
func (x *request) madeBinding(u *routing.Upstream) sticky.Binding {
	b := sticky.Binding{Upstream: u.Name, Dialect: mcp.DialectDraft.String(), Alias: x.decision.Alias, Maker: x.made.binding.Maker}
	if b.Maker == "" {
		b.Maker = rand.Text()
	}
	if x.Session != "" {
		b.Session = inbound.Digest(x.Session)
	}
	return b
}

// bindMadeTo binds those tasks to owner, who gets the request, whoever had one of the
// caller's ids before.
func (x *request) bindMadeTo(owner *routing.Upstream) error {
	if _, err := x.bindMade(owner); !errors.Is(err, routing.ErrSeveralOwners) {
		return err
	}
	return nil
}

// keepMade prolongs what is bound for as long as the request is under way: such a binding
// lives for minutes, and a tool may take hours.
func (x *request) keepMade() {
	router, keys, binding := x.Endpoint.Router, x.decision.Made, x.made.binding
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.HTTP.Context()))
	var keeping sync.WaitGroup
	keeping.Go(func() {
		tick := time.NewTicker(sticky.ProvisionalLife / 2)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				for _, key := range keys {
					router.KeepNew(ctx, key, binding)
				}
			case <-ctx.Done():
				return
			}
		}
	})
	x.made.stop = func() {
		cancel()
		keeping.Wait()
	}
}

// leaveMade leaves what is bound to its own short life.
func (x *request) leaveMade() {
	if x.made.stop != nil {
		x.made.stop()
		x.made.stop = nil
	}
}

// endMade ends what bindMade began. What was bound for a request that nobody got anything
// of is given up, so that the client may try again anywhere.
func (x *request) endMade() {
	x.leaveMade()
	if !x.sent {
		x.releaseMade(x.decision.Made...)
	}
}

// releaseMade gives up those of the request's own bindings whose owner has not told of the
// task.
func (x *request) releaseMade(keys ...sticky.Key) {
	if x.made.at == nil || len(keys) == 0 {
		return
	}
	ctx, cancel := x.Recording()
	defer cancel()
	for _, key := range keys {
		x.Endpoint.Router.ReleaseNew(ctx, key, x.made.binding)
	}
}

// judgedMade gives up what the client made ids for, if the status says that its request
// was refused. What a gateway says in its server's place does not.
func (x *request) judgedMade(status int) {
	if status >= 300 && status != wire.StatusBadGateway && status != wire.StatusGatewayTimeout {
		x.releaseMade(x.decision.Made...)
	}
}

// disownedMade gives up what the client made the id for in the call that an answer is to,
// which says that there is no such task: an error, or a task of another id. An answer that
// does not say to which is to all of them.
func (x *request) disownedMade(a *mcp.Answer) {
	if x.made.at == nil {
		return
	}
	for i := range x.Message.Calls {
		c := &x.Message.Calls[i]
		if c.MakesTask() && (!a.HasID() || mcp.IDKey(a.ID) == mcp.IDKey(c.ID)) {
			x.releaseMade(x.Endpoint.Router.TaskKey(x.Principal, c.NewTaskID))
		}
	}
}

// heedTold binds a task whose id its client made for good, before a message is released by
// which u tells of it. What belongs to other tasks is looked up once.
func (x *request) heedTold(u *routing.Upstream, message []byte) {
	if !x.Endpoint.FirstDraft || x.Era() != mcp.EraLegacy {
		return
	}
	id := mcp.RelatedTask(message)
	if id == "" || id == x.told {
		return
	}
	x.told = id
	_ = x.toldOf(u, id, "") // what else the message says is not of the task
}

// toldOf binds the task for good, if its binding is provisional and u's, now that u tells
// of it. It fails if the task is another principal's by now.
func (x *request) toldOf(u *routing.Upstream, id, status string) error {
	ctx, cancel := x.Recording()
	defer cancel()
	router := x.Endpoint.Router
	key := router.TaskKey(x.Principal, id)
	binding, _, err := router.LookUp(ctx, key)
	switch {
	case err == nil && binding.Provisional() && binding.Upstream == u.Name:
		return router.Confirm(ctx, key, binding, status)
	case errors.Is(err, sticky.ErrUnknown) && x.Makes(id): // it was given up meanwhile
		return router.Confirm(ctx, key, x.madeBinding(u), status)
	}
	return nil
}

// forgetTask drops what is kept of a task that its owner has just deleted.
func (x *request) forgetTask(u *routing.Upstream) {
	x.p.stale.Drop(x.Call, x.decision.Task)
	x.unbindFrom(u)
}
