package sessions

import (
	"cmp"
	"context"

	"berth/internal/exchange"
	"berth/proxy/bridge/legacy"
	"berth/proxy/inbound"
)

// End tells the upstream that nobody needs the session any more, with what its users bore last: what it was opened with may have expired.
func (l *Session) End(ctx context.Context) { l.Session.End(ctx, l.name()) }

// UsedBy notes that a session which was lent before is used in the name of who sends out.
func (l *Session) UsedBy(out *exchange.Request) {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	l.noteUse(out)
}

// noteUse is UsedBy for who holds Registry.mu.
func (l *Session) noteUse(out *exchange.Request) {
	if out.Renewal == nil && saysNoMore(out, cmp.Or(l.last, l.Opened)) {
		return
	}
	l.last = legacy.OwnPost(out, nil)
	l.last.Renewal = out.Renewal
}

// name is in whose name the session is ended.
func (l *Session) name() *exchange.Request {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	return cmp.Or(l.last, l.Opened)
}

// settled is a request as it was last: what renews it would keep a call in memory that is over.
func settled(out *exchange.Request) *exchange.Request {
	if out == nil || out.Renewal == nil {
		return out
	}
	return legacy.OwnPost(out, nil)
}

// saysNoMore reports whether a request says nothing of who its caller is that another one does not.
func saysNoMore(out, other *exchange.Request) bool {
	for _, f := range out.Header.Fields() {
		if !isNobodys(f.Name) && !inbound.IsOfEachRequest(f.Name) && other.Header.Get(f.Name) != f.Value {
			return false
		}
	}
	return true
}
