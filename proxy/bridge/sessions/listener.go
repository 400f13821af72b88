package sessions

import (
	"context"

	"berth/internal/exchange"
	"berth/internal/mcp"
)

// Listener hears what the upstream tells on the streams of sessions that is of no call. It may not call the pool.
type Listener interface {
	Hear(from *Session, message []byte)
	Lose() // its own session, or what is told there
}

// Subscribe has one hear all sessions of a caller's, and know of the loss of its own. It returns those that are there:
// the listener sees to it that their streams are read.
func (p *Pool) Subscribe(whose string, own *Session, li Listener) (sessions []*Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listeners[whose] == nil {
		p.listeners[whose] = map[Listener]*Session{}
	}
	p.listeners[whose][li] = own
	return p.sessionsOf(whose)
}

// Unsubscribe undoes Subscribe. What nobody uses is not listened to any more.
func (p *Pool) Unsubscribe(whose string, li Listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.listeners[whose], li)
	if len(p.listeners[whose]) > 0 {
		return
	}
	delete(p.listeners, whose)
	for _, l := range p.sessionsOf(whose) {
		if l.users == 0 {
			l.cover()
		}
	}
}

// misses has those who listen by the session end: what is told there is not heard, or was not. The caller holds Pool.mu.
func (l *Session) misses() {
	if l.shelf == nil {
		return
	}
	for li, own := range l.pool.listeners[l.shelf.whose] {
		if own == l {
			li.Lose()
		}
	}
}

// sessionsOf are the sessions of a caller. The caller holds p.mu.
func (p *Pool) sessionsOf(whose string) (sessions []*Session) {
	for _, s := range p.shelves {
		if s.whose == whose {
			sessions = append(sessions, s.loans...)
		}
	}
	return sessions
}

// Subscribe has the session told of a resource. Several may want that.
func (l *Session) Subscribe(ctx context.Context, out *exchange.Request, uri string) bool {
	select {
	case l.subscribing <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-l.subscribing }()
	if ctx.Err() != nil {
		return false
	}
	if l.subscribed[uri] == 0 {
		if err := l.say(ctx, out, mcp.MethodSubscribe, uri); err != nil {
			if ctx.Err() != nil { // it may be granted all the same
				_ = l.say(context.WithoutCancel(ctx), out, mcp.MethodUnsubscribe, uri)
			}
			return false
		}
	}
	l.subscribed[uri]++
	return true
}

// Unsubscribe undoes Subscribe of each of the uris. Nobody subscribes before the upstream has heard that.
func (l *Session) Unsubscribe(ctx context.Context, out *exchange.Request, uris []string) {
	l.subscribing <- struct{}{}
	defer func() { <-l.subscribing }()
	for _, uri := range uris {
		if l.subscribed[uri]--; l.subscribed[uri] == 0 {
			delete(l.subscribed, uri)
			_ = l.say(ctx, out, mcp.MethodUnsubscribe, uri)
		}
	}
}

func (l *Session) say(ctx context.Context, out *exchange.Request, method, uri string) error {
	_, err := l.Ask(ctx, out, method, map[string]any{"uri": uri})
	return err
}
