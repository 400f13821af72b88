package proxy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"berth/proxy/inbound"
)

// lingering are the exchanges that are read on without a client, by the session that they are in.
type lingering struct {
	mu    sync.Mutex // guards the fields below
	count int
	by    map[clientSession][]*readOn
}

// clientSession names a session as its client does.
type clientSession struct{ path, principal, id string }

func clientSessionOf(c *inbound.Call) clientSession {
	return clientSession{c.Endpoint.Path, c.Principal, c.Session}
}

// readOn is an exchange that is read on.
type readOn struct {
	in  clientSession
	ctx context.Context // of the upstream's side
	end context.CancelCauseFunc

	mu   sync.Mutex // guards the fields below
	told []string   // ids of the last events that the client was given, mostTold at most
	next int        // where the next one goes once there are so many

	// lingering.mu guards these.
	closed bool
	over   chan struct{} // closed with that; nil: it was closed before
}

// mostTold is how many events a client may have missed of those that it was given, so that its stream is found still.
const mostTold = 64

// tell notes the id of an event that the client is given.
func (r *readOn) tell(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.told) < mostTold {
		r.told = append(r.told, id)
		return
	}
	r.told[r.next] = id
	r.next = (r.next + 1) % mostTold
}

func (r *readOn) hasTold(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Contains(r.told, id)
}

const maxLingering = 4096 // exchanges read on without a client

// What ends an exchange that is read on.
var (
	errLingered = errors.New("proxy: read on without a client for long enough")
	errResumed  = errors.New("proxy: its client goes on with the stream")
)

// read lets an exchange be read on for so long, or until cut is closed.
func (l *lingering) read(r *readOn, most time.Duration, cut <-chan struct{}) {
	if !l.add(r) {
		r.end(errLingered)
		return
	}
	timer := time.AfterFunc(most, func() { r.end(errLingered) })
	select {
	case <-r.ctx.Done():
	case <-cut:
		r.end(errCut)
	}
	timer.Stop()
	l.remove(r)
}

// add notes an exchange, unless there are too many.
func (l *lingering) add(r *readOn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count == maxLingering {
		return false
	}
	if l.count++; r.in.id != "" && !r.closed {
		if l.by == nil {
			l.by = map[clientSession][]*readOn{}
		}
		r.over = make(chan struct{})
		l.by[r.in] = append(l.by[r.in], r)
	}
	return true
}

func (l *lingering) remove(r *readOn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count--
	if left := slices.DeleteFunc(l.by[r.in], func(other *readOn) bool { return other == r }); len(left) > 0 {
		l.by[r.in] = left
	} else {
		delete(l.by, r.in)
	}
}

// close notes that the upstream's side of an exchange has ended.
func (l *lingering) close(r *readOn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.closed = true; r.over != nil {
		close(r.over)
	}
}

// end ends the exchange of a session whose client was given this event, and waits for that as long as ctx lasts. It reports whether there
// was one.
func (l *lingering) end(ctx context.Context, in clientSession, event string) bool {
	l.mu.Lock()
	of := slices.IndexFunc(l.by[in], func(r *readOn) bool { return r.hasTold(event) })
	if of < 0 {
		l.mu.Unlock()
		return false
	}
	r := l.by[in][of]
	l.mu.Unlock()
	r.end(errResumed)
	select {
	case <-r.over:
	case <-ctx.Done():
	}
	return true
}
