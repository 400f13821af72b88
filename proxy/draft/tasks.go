package draft

import (
	"crypto/rand"
	"errors"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/sticky"
)

// Tasks are those whose ids the client of one request made, as far as the request bound
// them, and as far as its answer tells of them.
type Tasks struct {
	Call *inbound.Call
	At   *routing.Decision // where it is routed to now

	bound   *routing.Upstream // whom they are bound to; nil: nobody yet
	binding *sticky.Binding   // as it was made; nil: none was
	stop    func()            // ends what prolongs them
	sent    bool              // some of the request may have reached an upstream
	told    string            // id of the task that the answer belongs to, as it has said last
}

// Bind binds the tasks to u, before u hears of them, and returns who owns them: u or, where
// somebody was first, another. A request that u's predecessor got nothing of takes its
// bindings along.
func (t *Tasks) Bind(u *routing.Upstream) (owner *routing.Upstream, err error) {
	if len(t.At.Made) == 0 {
		return u, nil
	}
	ctx, cancel := t.Call.Recording()
	defer cancel()
	t.leave()
	from := t.bound
	binding := t.provisional(u)
	t.bound, t.binding = u, &binding
	for _, key := range t.At.Made {
		one, err := t.Call.Endpoint.Router.BindNew(ctx, key, from, binding)
		if err != nil {
			return nil, err
		}
		if owner != nil && !owner.Is(one) {
			return nil, routing.ErrSeveralOwners
		}
		if owner = one; from == nil {
			owner.Made()
		}
	}
	t.keep()
	return owner, nil
}

// BindTo binds the tasks to owner, who gets the request, whoever had one of the caller's ids
// before.
func (t *Tasks) BindTo(owner *routing.Upstream) error {
	if _, err := t.Bind(owner); err != nil && !errors.Is(err, routing.ErrSeveralOwners) {
		return err
	}
	return nil
}

// provisional is what a task is bound by to u until that has told of it.
func (t *Tasks) provisional(u *routing.Upstream) sticky.Binding {
	b := sticky.Binding{Upstream: u.Name, Dialect: mcp.DialectDraft.String(), Alias: t.At.Alias}
	if t.binding != nil {
		b.Maker = t.binding.Maker
	} else {
		b.Maker = rand.Text()
	}
	if t.Call.Session != "" {
		b.Session = seal.Digest(t.Call.Session)
	}
	return b
}

// Sent notes what came of sending the request: some of it may have left.
func (t *Tasks) Sent(err error) {
	failed, ok := errors.AsType[*exchange.SendError](err)
	t.sent = t.sent || !ok || failed.Sent
}

// Untaken notes that nobody whom the request was sent to has taken it on.
func (t *Tasks) Untaken() { t.sent = false }
