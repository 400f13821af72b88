package proxy

import (
	"context"
	"slices"
	"sync"

	"berth/internal/wire"
	"berth/proxy/access"
	"berth/proxy/taskwatch"
	"berth/upgrade"
)

// newsroom knows the sessions whose standing streams run through this berth. The zero
// value knows none.
type newsroom struct {
	mu       sync.Mutex                // guards the field below, and each one's streams
	sessions map[string][]*sessionNews // by session, as the records of tasks call it; the earliest first
}

// newsKey names those who are told the same.
type newsKey struct {
	session     string // as the records of tasks call it
	credentials string // digest; "": none, or a principal says who it is
}

// joinNews returns what berth itself has to say on the request's stream, nil if that is not
// a session's own. Leave it when the stream ends.
func (x *request) joinNews() *sessionNews {
	if x.HTTP.Method != wire.MethodGet || !x.mayHoldCalls() {
		return nil
	}
	key := newsKey{session: x.SessionKey()}
	caller := x.caller()
	key.credentials = caller.Credentials()
	return x.p.newsroom.join(x.p.watching, x.p.options.Tasks, key, caller)
}

func (r *newsroom) join(poller *taskwatch.Poller, upgrades *upgrade.Tasks, key newsKey, caller access.Caller) *sessionNews {
	r.mu.Lock()
	defer r.mu.Unlock()
	var n *sessionNews
	if i := slices.IndexFunc(r.sessions[key.session], func(n *sessionNews) bool { return n.key == key }); i >= 0 {
		n = r.sessions[key.session][i]
	} else {
		ctx, end := context.WithCancel(context.Background())
		n = &sessionNews{
			room: r, poller: poller, upgrades: upgrades, key: key, caller: caller, end: end,
			events: make(chan []byte), over: make(chan struct{}), done: make(chan struct{}),
		}
		if r.sessions == nil {
			r.sessions = map[string][]*sessionNews{}
		}
		r.sessions[key.session] = append(r.sessions[key.session], n)
		go n.run(ctx)
	}
	n.streams++
	return n
}

// before are those of the session that came before n.
func (r *newsroom) before(n *sessionNews) []*sessionNews {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.sessions[n.key.session]
	return slices.Clone(all[:max(slices.Index(all, n), 0)])
}

// leave takes a stream away, and waits for the goroutine if it was the last one.
func (n *sessionNews) leave() {
	if n == nil || !n.room.drop(n) {
		return
	}
	n.end()
	<-n.done
}

// drop reports whether n has no streams left; then the next one finds another.
func (r *newsroom) drop(n *sessionNews) (last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n.streams--
	if n.streams > 0 {
		return false
	}
	left := slices.DeleteFunc(slices.Clone(r.sessions[n.key.session]), func(other *sessionNews) bool { return other == n })
	if r.sessions[n.key.session] = left; len(left) == 0 {
		delete(r.sessions, n.key.session)
	}
	return true
}
