package proxy

import (
	"context"
	"maps"
	"net/http"
	"sync"

	"berth/upgrade"
)

// newsroom knows the sessions whose standing streams run through this berth. The zero
// value knows none.
type newsroom struct {
	mu       sync.Mutex // guards the fields below, and each one's streams
	sessions map[newsKey]*sessionNews
	telling  map[string]*sessionNews // by task: who tells of it, where callers with other credentials may hear it, too
}

// newsKey names those who are told the same.
type newsKey struct {
	session     string // as the records of tasks call it
	credentials string // digest; "": none, or a principal says who it is
}

// joinNews returns what berth itself has to say on the request's stream, nil if that is not
// a session's own. Leave it when the stream ends.
func (x *request) joinNews() *sessionNews {
	if x.r.Method != http.MethodGet || !x.mayHoldCalls() {
		return nil
	}
	key := newsKey{session: x.sessionKey()}
	mayHear := func(context.Context, upgrade.Task) error { return nil }
	if x.principal == "" {
		stranger := x.asStranger()
		key.credentials, mayHear = stranger.credentials.All, stranger.mayAsk
	}
	return x.p.newsroom.join(&x.p.lookout, key, x.asker(), mayHear)
}

func (r *newsroom) join(out *lookout, key newsKey, who upgrade.Asker, mayHear func(context.Context, upgrade.Task) error) *sessionNews {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.sessions[key]
	if n == nil {
		ctx, end := context.WithCancel(context.Background())
		n = &sessionNews{
			room: r, out: out, key: key, who: who, mayHear: mayHear, end: end,
			events: make(chan []byte), over: make(chan struct{}), done: make(chan struct{}),
		}
		if r.sessions == nil {
			r.sessions = map[newsKey]*sessionNews{}
		}
		r.sessions[key] = n
		go n.run(ctx)
	}
	n.streams++
	return n
}

// tells reports whether it is n that tells of a task: the first that came to may, as long as
// it has streams.
func (r *newsroom) tells(n *sessionNews, task string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.telling == nil {
		r.telling = map[string]*sessionNews{}
	}
	if r.telling[task] == nil {
		r.telling[task] = n
	}
	return r.telling[task] == n
}

// forget lets go of a task of which nothing is left to tell.
func (r *newsroom) forget(n *sessionNews, task string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.telling[task] == n {
		delete(r.telling, task)
	}
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
	delete(r.sessions, n.key)
	maps.DeleteFunc(r.telling, func(_ string, teller *sessionNews) bool { return teller == n })
	return true
}
