package sessions

import (
	"context"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/proxy/bridge/legacy"
)

// Resources are those that a session is told of.
type Resources struct {
	session   *legacy.Session
	changing  chan struct{}  // holds one while a resource is subscribed to, or no more; guards the field below
	listeners map[string]int // how many listen for a resource
}

func newResources(of *legacy.Session) *Resources {
	return &Resources{session: of, changing: make(chan struct{}, 1), listeners: map[string]int{}}
}

// Subscribe has the session told of a resource, and reports whether it is. Several may want that.
func (r *Resources) Subscribe(ctx context.Context, out *exchange.Request, uri string) bool {
	select {
	case r.changing <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-r.changing }()
	if ctx.Err() != nil {
		return false
	}
	if r.listeners[uri] == 0 {
		if err := r.say(ctx, out, mcp.MethodSubscribe, uri); err != nil {
			if ctx.Err() != nil { // it may be granted all the same
				_ = r.say(context.WithoutCancel(ctx), out, mcp.MethodUnsubscribe, uri)
			}
			return false
		}
	}
	r.listeners[uri]++
	return true
}

// Unsubscribe undoes Subscribe of each of the uris. Nobody subscribes before the upstream has heard that.
func (r *Resources) Unsubscribe(ctx context.Context, out *exchange.Request, uris []string) {
	r.changing <- struct{}{}
	defer func() { <-r.changing }()
	for _, uri := range uris {
		if r.listeners[uri]--; r.listeners[uri] == 0 {
			delete(r.listeners, uri)
			_ = r.say(ctx, out, mcp.MethodUnsubscribe, uri)
		}
	}
}

func (r *Resources) say(ctx context.Context, out *exchange.Request, method, uri string) error {
	_, err := r.session.Ask(ctx, out, method, map[string]any{"uri": uri})
	return err
}
