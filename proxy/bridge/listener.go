package bridge

import (
	"bytes"
	"context"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
)

// maxUnread is how many notifications a subscription may leave unread. One that leaves more is
// ended: its client opens it anew, and looks.
const maxUnread = 256

// listener is a modern client's subscription.
type listener struct {
	c      *call
	l      *loan // whose subscriptions of resources are its own
	shelf  *shelf
	agreed mcp.Filter
	uris   []string
	heard  chan []byte
	left   []byte // of events that were not read yet; of who reads

	lost  chan struct{} // closed when it can hear no more
	loses sync.Once
	over  sync.Once
}

// tell has the client told what it asked for. The caller holds f.mu.
func (li *listener) tell(message []byte) {
	s, err := mcp.PeekSubscribed(message, false)
	if err != nil || !li.agreed.Grants(&s) {
		return
	}
	out := mcp.ForSubscription(message, li.c.id)
	if out == nil {
		return
	}
	select {
	case li.heard <- out:
	default:
		li.lose()
	}
}

func (li *listener) lose() { li.loses.Do(func() { close(li.lost) }) }

// leave ends the subscription.
func (li *listener) leave() {
	li.over.Do(func() {
		li.c.f.mu.Lock()
		delete(li.shelf.listeners, li)
		if len(li.shelf.listeners) == 0 {
			for _, l := range li.shelf.loans {
				l.ear.close()
				l.ear = nil
			}
		}
		li.shelf.settle()
		li.c.f.mu.Unlock()
		go func() {
			li.unsubscribe(context.Background())
			li.l.giveBack(false)
		}()
	})
}

// hear has a session's GET stream read. The caller holds f.mu.
func (li *listener) hear(l *loan) {
	if l.ear != nil || l.id == "" || l.gone {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.ear = &ear{cancel}
	go l.listen(ctx, li.c.out)
}

// ear is who reads a session's GET stream.
type ear struct{ stop context.CancelFunc }

func (e *ear) close() {
	if e != nil {
		e.stop()
	}
}

// How long a GET stream that ended is left alone.
const (
	earFirst = 100 * time.Millisecond
	earMost  = 30 * time.Second
)

// listen reads the GET stream of a session for as long as anybody listens.
func (l *loan) listen(ctx context.Context, out *exchange.Request) {
	pause := earFirst
	for ctx.Err() == nil {
		began := time.Now()
		if !l.listenOnce(ctx, out) {
			break
		}
		if time.Since(began) > earMost {
			pause = earFirst
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, earMost)
	}
	if ctx.Err() == nil {
		l.deafen()
	}
}

// deafen ends the subscriptions that hear by this session alone.
func (l *loan) deafen() {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	for li := range l.shelf.listeners {
		if li.l == l {
			li.lose()
		}
	}
	l.remove()
}

// listenOnce reads a GET stream to its end. It reports whether there may be another one.
func (l *loan) listenOnce(ctx context.Context, out *exchange.Request) (again bool) {
	in := ownPost(out, nil)
	in.Method = wire.MethodGet
	in.Header.Del("Content-Type")
	in.Header.Set("Accept", "text/event-stream")
	in.Header.Set(mcp.HeaderVersion, l.version)
	in.Header.Set(mcp.HeaderSession, l.id)
	response, err := outbound.To(l.f.b.o.Endpoint).Send(ctx, l.f.u, in, outbound.Terms{Watched: true})
	if err != nil {
		return true
	}
	defer response.Body.Close()
	if response.Status != wire.StatusOK || exchange.ShapeOf(response) != exchange.EventStream {
		return !outbound.DeniesSession(response.Status) && response.Status != wire.StatusMethodNotAllowed
	}
	events := mcp.NewLongEventReader(response.Body, mcp.MaxPeek)
	for {
		e, err := events.Next()
		switch {
		case err != nil:
			return true
		case e.Ends && !e.Cut && mcp.MayBeMessage(e.Data):
			l.hears(ctx, out, bytes.Clone(e.Data))
		}
	}
}

// hears does what a message of a session's means that belongs to no call: nobody can be asked.
func (l *loan) hears(ctx context.Context, out *exchange.Request, message []byte) {
	a, err := mcp.PeekAnswer(message, false)
	switch {
	case err != nil || a.Method == "":
	case a.Method == mcp.MethodPing && a.ID != nil:
		_ = l.f.tell(ctx, out, l, mcp.Response(a.ID, []byte("{}")))
	case a.ID != nil:
		_ = l.f.tell(ctx, out, l, mcp.ErrorResponse(a.ID, errNobodyAsked.Object()))
	default:
		l.f.mu.Lock()
		defer l.f.mu.Unlock()
		for li := range l.shelf.listeners {
			li.tell(message)
		}
	}
}
