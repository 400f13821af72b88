package lingering

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Exchanges are requests in sessions of the legacy era that are under way, and those that are read on without a client.
type Exchanges struct {
	notices Notices // nil: no other berth has the sessions
	hearing sync.Once

	mu    sync.Mutex // guards the fields below
	count int        // of those that are read on
	all   list.List  // of *Exchange that are in a session
}

// New returns exchanges that clients of other berths may take over or cancel as well, which notices tell of; nil: there are no other
// berths.
func New(notices Notices) *Exchanges { return &Exchanges{notices: notices} }

// Session names a session as its client does.
type Session struct{ Path, Principal, ID string }

// Exchange is a request whose answer is read on if its client leaves.
type Exchange struct {
	in   Session
	id   string          // the request's, raw; "": it has none
	ctx  context.Context // of the upstream's side
	end  context.CancelCauseFunc
	own  atomic.Bool // see Own
	left atomic.Bool // see HasLeft; set with Exchanges.mu held

	mu   sync.Mutex // guards the fields below
	told []string   // ids of the last events that the client was given, mostTold at most
	next int        // where the next one goes once there are so many

	// Exchanges.mu guards these.
	at     *list.Element // nil: it is in no session, or over
	over   chan struct{} // closed when the upstream's side has ended; nil: nobody waits for that
	digest string        // see sessionDigest; "": nobody has asked for it
}

// begin begins an exchange in a session, whose ID is "" if there is none. id is the request's, raw; end ends the upstream's side, which
// ctx is of. close must be called.
func (l *Exchanges) begin(ctx context.Context, in Session, id string, end context.CancelCauseFunc) *Exchange {
	x := &Exchange{in: in, id: id, ctx: ctx, end: end}
	if in.ID == "" {
		return x
	}
	if l.notices != nil {
		l.hearing.Do(func() { go l.hear() })
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	x.at = l.all.PushBack(x)
	return x
}

// Own notes that no server answers the request, but berth itself. A nil one is none that a client can cancel.
func (x *Exchange) Own() {
	if x != nil {
		x.own.Store(true)
	}
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

// What ends an exchange before its answer.
var (
	errCancelled = errors.New("proxy: its client has cancelled it")
	errLong      = errors.New("proxy: read on without a client for long enough")
	errResumed   = errors.New("proxy: its client goes on with the stream")
	errCut       = errors.New("proxy: cut at the end of the time to drain")
)

// read lets an exchange be read on, whose client has left, for at most so long, or until cut is closed.
func (l *Exchanges) read(x *Exchange, long time.Duration, cut <-chan struct{}) {
	if !l.leave(x) {
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
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count--
}

// leave notes that the client of an exchange has left, unless there are too many.
func (l *Exchanges) leave(x *Exchange) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count == most {
		return false
	}
	l.count++
	x.left.Store(true)
	return true
}

// HasLeft reports whether the client has left: what it is still given it does not get.
func (x *Exchange) HasLeft() bool { return x.left.Load() }

// close notes that the upstream's side of an exchange has ended.
func (l *Exchanges) close(x *Exchange) {
	if x.in.ID == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.Remove(x.at)
	x.at = nil
	if x.over != nil {
		close(x.over)
	}
}

// end ends the exchange of a session whose client has left and was given this event, and waits for that as long as ctx lasts. It reports
// whether there was one at this berth.
func (l *Exchanges) end(ctx context.Context, in Session, event string) bool {
	x := l.find(func(x *Exchange) bool { return x.HasLeft() && x.in == in && x.hasTold(event) })
	if x == nil {
		return false
	}
	over := l.overOf(x)
	x.end(errResumed)
	select {
	case <-over:
	case <-ctx.Done():
	}
	return true
}

// overOf is closed when an exchange has ended.
func (l *Exchanges) overOf(x *Exchange) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x.over == nil {
		x.over = make(chan struct{})
		if x.at == nil {
			close(x.over)
		}
	}
	return x.over
}

// find returns an exchange that is meant; nil: there is none.
func (l *Exchanges) find(meant func(*Exchange) bool) *Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	for e := l.all.Front(); e != nil; e = e.Next() {
		if x := e.Value.(*Exchange); meant(x) {
			return x
		}
	}
	return nil
}
