package lingering

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Exchanges are those that are read on without a client, by the session that they are in.
type Exchanges struct {
	notices Notices // nil: no other berth has the sessions

	mu    sync.Mutex // guards the fields below
	count int
	by    map[Session][]*Exchange
	deaf  context.CancelFunc // ends the hearing of other berths; nil: nobody hears
}

// New returns exchanges that clients of other berths may take over as well, which notices tell of; nil: there are no other berths.
func New(notices Notices) *Exchanges {
	return &Exchanges{notices: notices, by: map[Session][]*Exchange{}}
}

// Session names a session as its client does.
type Session struct{ Path, Principal, ID string }

// Exchange is a request whose answer is read on.
type Exchange struct {
	in  Session
	ctx context.Context // of the upstream's side
	end context.CancelCauseFunc

	mu   sync.Mutex // guards the fields below
	told []string   // ids of the last events that the client was given, mostTold at most
	next int        // where the next one goes once there are so many

	// Exchanges.mu guards these.
	closed bool
	over   chan struct{} // closed with that; nil: it was closed before
}

// Begin returns an exchange in a session, whose ID is "" if there is none. end ends the upstream's side, which ctx is of.
func Begin(ctx context.Context, in Session, end context.CancelCauseFunc) *Exchange {
	return &Exchange{in: in, ctx: ctx, end: end}
}

// mostTold is how many events a client may have missed of those that it was given, so that its stream is found still.
const mostTold = 64

// Tell notes the id of an event that the client is given.
func (x *Exchange) Tell(id string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.told) < mostTold {
		x.told = append(x.told, id)
		return
	}
	x.told[x.next] = id
	x.next = (x.next + 1) % mostTold
}

func (x *Exchange) hasTold(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Contains(x.told, id)
}

const most = 4096 // exchanges read on without a client

// What ends an exchange that is read on.
var (
	errLong    = errors.New("proxy: read on without a client for long enough")
	errResumed = errors.New("proxy: its client goes on with the stream")
	errCut     = errors.New("proxy: cut at the end of the time to drain")
)

// Read lets an exchange be read on for at most so long, or until cut is closed.
func (l *Exchanges) Read(x *Exchange, long time.Duration, cut <-chan struct{}) {
	if !l.add(x) {
		x.end(errLong)
		return
	}
	timer := time.AfterFunc(long, func() { x.end(errLong) })
	select {
	case <-x.ctx.Done():
	case <-cut:
		x.end(errCut)
	}
	timer.Stop()
	l.remove(x)
}

// add notes an exchange, unless there are too many.
func (l *Exchanges) add(x *Exchange) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count == most {
		return false
	}
	l.count++
	if x.in.ID == "" || x.closed {
		return true
	}
	x.over = make(chan struct{})
	l.by[x.in] = append(l.by[x.in], x)
	if l.deaf == nil && l.notices != nil {
		l.deaf = l.hear()
	}
	return true
}

func (l *Exchanges) remove(x *Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count--
	if left := slices.DeleteFunc(l.by[x.in], func(other *Exchange) bool { return other == x }); len(left) > 0 {
		l.by[x.in] = left
	} else {
		delete(l.by, x.in)
	}
	if len(l.by) == 0 && l.deaf != nil {
		l.deaf()
		l.deaf = nil
	}
}

// Close notes that the upstream's side of an exchange has ended.
func (l *Exchanges) Close(x *Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x.closed = true; x.over != nil {
		close(x.over)
	}
}

// End ends the exchange of a session whose client was given this event, and waits for that as long as ctx lasts. It reports whether there
// was one at this berth.
func (l *Exchanges) End(ctx context.Context, in Session, event string) bool {
	x := l.find(in, event)
	if x == nil {
		return false
	}
	x.end(errResumed)
	select {
	case <-x.over:
	case <-ctx.Done():
	}
	return true
}

// find returns the exchange of a session whose client was given this event; nil: there is none.
func (l *Exchanges) find(in Session, event string) *Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return which(l.by[in], event)
}

func which(of []*Exchange, told string) *Exchange {
	for _, x := range of {
		if x.hasTold(told) {
			return x
		}
	}
	return nil
}
