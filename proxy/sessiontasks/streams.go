package sessiontasks

import (
	"context"
	"slices"
	"sync"

	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
)

// streams knows the sessions whose standing streams run through this berth. The zero value
// knows none.
type streams struct {
	mu        sync.Mutex             // guards the field below, and each one's streams
	notifiers map[string][]*Notifier // by session, as the records of tasks call it; the earliest first
}

// audience names those who are told the same.
type audience struct {
	session     string // as the records of tasks call it
	credentials string // digest; "": none, or a principal says who it is
}

// Join returns what berth itself has to say on the request's stream, nil if that is not a
// session's own. Leave it when the stream ends.
func (s *Sessions) Join(way outbound.Way, at *routing.Decision) *Notifier {
	if way.HTTP.Method != wire.MethodGet || !s.MayHold(way, at) {
		return nil
	}
	caller := s.callers.Caller(way)
	key := audience{session: way.SessionKey(), credentials: caller.Credentials()}
	s.streams.mu.Lock()
	defer s.streams.mu.Unlock()
	all := s.streams.notifiers[key.session]
	i := slices.IndexFunc(all, func(n *Notifier) bool { return n.audience == key })
	if i >= 0 {
		all[i].streams++
		return all[i]
	}
	ctx, end := context.WithCancel(context.Background())
	n := &Notifier{
		sessions: s, audience: key, caller: caller, end: end, streams: 1,
		events: make(chan []byte), over: make(chan struct{}), done: make(chan struct{}),
	}
	if s.streams.notifiers == nil {
		s.streams.notifiers = map[string][]*Notifier{}
	}
	s.streams.notifiers[key.session] = append(all, n)
	go n.run(ctx)
	return n
}

// before are those of the session that came before n.
func (r *streams) before(n *Notifier) []*Notifier {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.notifiers[n.session]
	return slices.Clone(all[:max(slices.Index(all, n), 0)])
}

// drop reports whether n has no streams left; then the next one finds another.
func (r *streams) drop(n *Notifier) (last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n.streams--
	if n.streams > 0 {
		return false
	}
	left := slices.DeleteFunc(slices.Clone(r.notifiers[n.session]), func(other *Notifier) bool { return other == n })
	if r.notifiers[n.session] = left; len(left) == 0 {
		delete(r.notifiers, n.session)
	}
	return true
}
