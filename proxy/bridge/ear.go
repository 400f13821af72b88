package bridge

import (
	"bytes"
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/legacy"
	"berth/proxy/outbound"
)

// ear reads a session's GET stream. There servers tell what belongs to no call, and many ask there
// what a call of theirs wants to know.
type ear struct {
	stop  context.CancelFunc
	alone time.Duration // for which the server wants to be left alone before it is read again; of who reads

	// stock.mu guards these.
	last   string            // id of the last event
	out    *exchange.Request // in whose name it is read, as who needs it has last shown
	stands chan struct{}     // closed when the stream stands, or nobody need wait for that
	early  bool              // the session is being opened
}

const (
	// earTime bounds what calls wait for the session's GET stream: what is asked before it
	// stands is lost.
	earTime = 2 * time.Second

	// How long a GET stream that ended is left alone.
	earFirst = 20 * time.Millisecond
	earMost  = 30 * time.Second
)

// listen has the session's GET stream read, from an event on if there is one, and waits until it
// stands, whoever has begun to read it. A server that has none is not asked again.
func (l *loan) listen(ctx context.Context, out *exchange.Request, last string) {
	l.listenAs(ctx, out, ear{last: last})
}

// listenEarly is listen in a session that is being opened. A server that has no stream yet may have
// one then.
func (l *loan) listenEarly(ctx context.Context, out *exchange.Request) {
	l.listenAs(ctx, out, ear{early: true})
}

func (l *loan) listenAs(ctx context.Context, out *exchange.Request, wanted ear) {
	f := l.f
	f.mu.Lock()
	e := l.ear
	switch {
	case e != nil:
		e.out = legacy.OwnPost(out, nil)
	case l.ID == "" || l.deaf:
		f.mu.Unlock()
		return
	default:
		line, cancel := context.WithCancel(context.Background()) // it outlives the request
		e = &ear{stop: cancel, last: wanted.last, early: wanted.early, out: legacy.OwnPost(out, nil), stands: make(chan struct{})}
		l.ear = e
		go l.run(line, e)
	}
	stands := e.stands
	f.mu.Unlock()
	select {
	case <-stands:
	case <-ctx.Done():
	}
}

// isHeard reports whether the session's GET stream is read.
func (l *loan) isHeard() bool {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	return l.ear != nil
}

// stopListening undoes listen. It returns the last event that was read.
func (l *loan) stopListening() (last string) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	return l.cover()
}

// lastHeard is the last event of the session's GET stream that was read.
func (l *loan) lastHeard() string {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	if l.ear == nil {
		return ""
	}
	return l.ear.last
}

// cover is stopListening for who holds stock.mu.
func (l *loan) cover() (last string) {
	if l.ear == nil {
		return ""
	}
	l.ear.stop()
	last, l.ear = l.ear.last, nil
	return last
}

// run reads the GET stream for as long as somebody wants that.
func (l *loan) run(ctx context.Context, e *ear) {
	defer l.settle(e)
	late := time.AfterFunc(earTime, func() { l.settle(e) })
	defer late.Stop()
	for pause, early := earFirst, e.early; ctx.Err() == nil; pause, early = min(2*pause, earMost), false {
		began := time.Now()
		err := l.hearOnce(ctx, e)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errDenied) && early:
			l.stopListening()
			return
		case errors.Is(err, errDenied):
			l.deafen(l.IsDenied(ctx, l.earOf(e)))
			return
		case errors.Is(err, errNoStream):
			l.deafen(false)
			return
		case errors.Is(err, legacy.ErrStands):
			// The server may have yet to see that it was left.
		case time.Since(began) > earMost: // it stood
			pause = earFirst
			l.unsettle(e)
			late.Reset(earTime)
		default:
			l.settle(e)
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(pause, e.alone)):
		}
	}
}

// settle has nobody wait for the stream any more.
func (l *loan) settle(e *ear) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	select {
	case <-e.stands:
	default:
		close(e.stands)
	}
}

// unsettle has calls wait for the next stream, which comes soon.
func (l *loan) unsettle(e *ear) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	e.stands = make(chan struct{})
}

// earOf is in whose name a GET stream is read.
func (l *loan) earOf(e *ear) *exchange.Request {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	return e.out
}

// deafen notes that the session has no GET stream, or that the upstream has lost it.
func (l *loan) deafen(lost bool) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	l.cover()
	if l.deaf = true; lost {
		l.remove()
	}
}

var (
	errNoStream = errors.New("bridge: the server has no GET streams")
	// errDenied says that there is no GET stream, or no session any more: some servers say both with one status.
	errDenied = errors.New("bridge: the session has no GET stream")
)

// hearOnce reads a GET stream to its end.
func (l *loan) hearOnce(ctx context.Context, e *ear) error {
	l.f.mu.Lock()
	as, last := e.out, e.last
	l.f.mu.Unlock()
	response, err := l.Session.Listen(ctx, as, last)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	switch status := response.Status; {
	case status == wire.StatusConflict:
		return legacy.ErrStands
	case status == wire.StatusMethodNotAllowed:
		return errNoStream
	case outbound.DeniesSession(status):
		return errDenied
	case status != wire.StatusOK || exchange.ShapeOf(response) != exchange.EventStream:
		return nil
	}
	l.settle(e)
	events := mcp.NewLongEventReader(response.Body, legacy.MaxAnswer)
	for {
		next, err := events.Next()
		if err != nil {
			return err
		}
		if id := next.ID(); next.Ends && id != "" && len(id) <= legacy.MaxEvent {
			l.f.mu.Lock()
			e.last = id
			l.f.mu.Unlock()
		}
		legacy.LeaveAlone(&e.alone, &next)
		if next.Ends && !next.Cut && mcp.MayBeMessage(next.Data) {
			l.hears(ctx, l.earOf(e), bytes.Clone(next.Data))
		}
	}
}
