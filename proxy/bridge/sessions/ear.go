package sessions

import (
	"bytes"
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/legacy"
	"berth/proxy/outbound"
)

// ear reads a session's GET stream. There servers tell what belongs to no call, and many ask there
// what a call of theirs wants to know.
type ear struct {
	of    *Session
	stop  context.CancelFunc
	alone time.Duration // for which the server wants to be left alone before it is read again; of who reads
	stood bool          // it was read before; of who reads

	// Registry.mu guards these.
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

// Listen has the session's GET stream read, from an event on if there is one, and waits until it
// stands, whoever has begun to read it. A server that has none is not asked again.
func (l *Session) Listen(ctx context.Context, out *exchange.Request, last string) {
	l.listenAs(ctx, out, ear{last: last})
}

// listenEarly is Listen in a session that is being opened. A server that has no stream yet may have
// one then.
func (l *Session) listenEarly(ctx context.Context, out *exchange.Request) {
	l.listenAs(ctx, out, ear{early: true})
}

func (l *Session) listenAs(ctx context.Context, out *exchange.Request, wanted ear) {
	reg := l.registry
	reg.mu.Lock()
	e := l.ear
	switch {
	case e != nil:
		e.out = legacy.OwnPost(out, nil)
	case l.ID == "" || l.deaf:
		reg.mu.Unlock()
		return
	default:
		line, cancel := context.WithCancel(context.Background()) // it outlives the request
		e = &ear{of: l, stop: cancel, last: wanted.last, early: wanted.early, out: legacy.OwnPost(out, nil), stands: make(chan struct{})}
		l.ear = e
		go e.run(line)
	}
	stands := e.stands
	reg.mu.Unlock()
	select {
	case <-stands:
	case <-ctx.Done():
	}
}

// IsHeard reports whether the session's GET stream is read.
func (l *Session) IsHeard() bool {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	return l.ear != nil
}

// StopListening undoes Listen. It returns the last event that was read.
func (l *Session) StopListening() (last string) {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	return l.cover()
}

// LastHeard is the last event of the session's GET stream that was read.
func (l *Session) LastHeard() string {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	if l.ear == nil {
		return ""
	}
	return l.ear.last
}

// cover is StopListening for who holds Registry.mu.
func (l *Session) cover() (last string) {
	if l.ear == nil {
		return ""
	}
	l.ear.stop()
	last, l.ear = l.ear.last, nil
	return last
}

// run reads the GET stream for as long as somebody wants that.
func (e *ear) run(ctx context.Context) {
	l := e.of
	defer e.settle()
	late := time.AfterFunc(earTime, e.settle)
	defer late.Stop()
	var since time.Time // when something else was first answered in its place, and nothing besides since; zero: it was not
	for pause, early := earFirst, e.early; ctx.Err() == nil; pause, early = min(2*pause, earMost), false {
		began := time.Now()
		err := e.hearOnce(ctx)
		if !errors.Is(err, errNotReadOn) {
			since = time.Time{}
		}
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errNotReadOn):
			e.settle()
			if since.IsZero() {
				since = began
			} else if time.Since(since) >= flow.ResumeFor && e.forget() {
				pause = earFirst
			}
		case errors.Is(err, errDenied) && early:
			l.StopListening()
			return
		case errors.Is(err, errDenied):
			isLost := l.IsDenied(ctx, e.as())
			if ctx.Err() != nil {
				return
			}
			if isLost || !e.forget() {
				l.deafen(isLost, e.stood)
				return
			}
		case errors.Is(err, errNoStream):
			l.deafen(false, e.stood)
			return
		case errors.Is(err, legacy.ErrStands):
			// The server may have yet to see that it was left.
		case time.Since(began) > earMost: // it stood
			pause = earFirst
			e.unsettle()
			late.Reset(earTime)
		default:
			e.settle()
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(pause, e.alone)):
		}
	}
}

// settle has nobody wait for the stream any more.
func (e *ear) settle() {
	e.of.registry.mu.Lock()
	defer e.of.registry.mu.Unlock()
	select {
	case <-e.stands:
	default:
		close(e.stands)
	}
}

// unsettle has calls wait for the next stream, which comes soon.
func (e *ear) unsettle() {
	e.of.registry.mu.Lock()
	defer e.of.registry.mu.Unlock()
	e.stands = make(chan struct{})
}

// as is in whose name the stream is read.
func (e *ear) as() *exchange.Request {
	e.of.registry.mu.Lock()
	defer e.of.registry.mu.Unlock()
	return e.out
}

// forget has the stream be read from now on, where the upstream knows the last event no more, or has not gone on from there for too long. It reports false if there was none to go on
// from.
func (e *ear) forget() bool {
	l := e.of
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	if e.last == "" {
		return false
	}
	e.last = ""
	l.registry.misses(l)
	return true
}

// deafen notes that the session has no GET stream, which stood before or did not, or that the upstream has lost the session.
func (l *Session) deafen(lost, stood bool) {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	l.cover()
	l.deaf = true
	switch {
	case lost:
		l.remove()
	case stood:
		l.registry.misses(l)
	}
}

var (
	errNoStream = errors.New("bridge: the server has no GET streams")
	// errDenied says that there is no GET stream, or no session any more: some servers say both with one status.
	errDenied = errors.New("bridge: the session has no GET stream")
	// errNotReadOn says that something else was answered in its place, now or for ever.
	errNotReadOn = errors.New("bridge: the GET stream is not read on")
)

// hearOnce reads the stream to its end.
func (e *ear) hearOnce(ctx context.Context) error {
	l := e.of
	l.registry.mu.Lock()
	as, last := e.out, e.last
	l.registry.mu.Unlock()
	response, err := l.Stream(ctx, as, last)
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
		return errNotReadOn
	}
	e.settle()
	e.stood = true
	events := sse.NewReader(response.Body, legacy.MaxAnswer)
	for {
		next, err := events.Next()
		if err != nil {
			return err
		}
		if id := next.ID(); next.Ends && id != "" && len(id) <= legacy.MaxEvent {
			l.registry.mu.Lock()
			e.last = id
			l.registry.mu.Unlock()
		}
		legacy.LeaveAlone(&e.alone, &next)
		if !next.Ends || next.Cut || !mcp.MayBeMessage(next.Data) {
			continue
		}
		for message, err := range mcp.Messages(bytes.Clone(next.Data)) {
			if err == nil {
				l.hears(ctx, e.as(), message)
			}
		}
	}
}
