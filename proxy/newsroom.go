package proxy

import (
	"context"
	"net/http"
	"sync"

	"berth/upgrade"
)

// newsroom knows the sessions whose standing streams run through this berth. The zero
// value knows none.
type newsroom struct {
	mu       sync.Mutex // guards the field below, and each one's streams
	sessions map[string]*sessionNews
}

// joinNews returns what berth itself has to say on the request's stream, nil if that is not
// a session's own. Leave it when the stream ends.
func (x *request) joinNews() *sessionNews {
	if x.r.Method != http.MethodGet || !x.mayHoldCalls() {
		return nil
	}
	return x.p.newsroom.join(&x.p.lookout, x.sessionKey(), x.asker())
}

func (r *newsroom) join(out *lookout, session string, who upgrade.Asker) *sessionNews {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.sessions[session]
	if n == nil {
		ctx, end := context.WithCancel(context.Background())
		n = &sessionNews{
			room: r, out: out, session: session, who: who, end: end,
			events: make(chan []byte), over: make(chan struct{}), done: make(chan struct{}),
		}
		if r.sessions == nil {
			r.sessions = map[string]*sessionNews{}
		}
		r.sessions[session] = n
		go n.run(ctx)
	}
	n.streams++
	return n
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
	delete(r.sessions, n.session)
	return true
}
