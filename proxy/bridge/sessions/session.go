package sessions

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp/inquiry"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/legacy"
)

// Session is a bridged session: lent to one call that may be asked something, or to any number of
// others.
type Session struct {
	legacy.Session
	registry *Registry
	shelf    *shelf           // nil: it stands on none, as one that was opened by another berth
	Declares inquiry.Declared // what its client has declared; "": another berth has opened it
	Place    int              // of its server's processes; see Places

	level int // the log level that was set, as mcp.Severity counts; -1: none. Of who uses it alone, or setting

	setting chan struct{} // holds one while the level is set, or found to be so; guards the field below
	silent  time.Time     // when the server gave no answer to that last

	Listed    atomic.Bool // its tools were learned
	Resources *Resources  // nil: it stands on no shelf

	// Registry.mu guards these.
	users int
	alone bool
	idle  time.Time         // since when nobody uses it
	last  *exchange.Request // as who used it last; nil: who opened it
	gone  bool              // it is on no shelf any more

	leaves  bool // it takes no new call, and ends with the last that it has
	parked  bool // it does not count any more
	retired bool // it is gone, and ends with its last use

	letAsk     bool          // its server had the time to ask what it asks of every session
	called     bool          // a call that may be asked was begun
	askedRoots bool          // its server has asked for roots, before any call or what its client has not declared
	early      questions     // what the server asks that no call could be asked so far
	adopted    time.Duration // how long after its use it is ended, since another berth has opened it, for a call that goes on here
	ear        *ear          // who reads its GET stream; nil: nobody
	deaf       bool          // it has none
	asker      *flow.Flow    // of the call that was begun last, and may be asked; nil: there is none

	tasks keptTasks      // that were made in it
	asked []taskQuestion // what they have asked on the session's own stream, the last of it
}

// GiveBack ends a use of the session, which the upstream may have lost.
func (l *Session) GiveBack(lost bool) {
	reg := l.registry
	reg.mu.Lock()
	l.users--
	if l.users == 0 {
		l.alone, l.idle = false, time.Now()
		l.last = settled(l.last)
		if l.gone && (l.adopted == 0 || !l.tasks.any()) {
			l.cover() // nobody else will
		}
	}
	l.shelf.tell()
	if !l.gone && (lost || l.users == 0 && l.isSpent() && !l.tasks.any()) {
		l.remove()
		l.retired = true
	}
	end := l.retired && l.users == 0
	reg.mu.Unlock()
	switch {
	case end:
		go l.End(context.Background())
	case l.adopted > 0:
		// Whoever answers the same round once more may still read there.
		time.AfterFunc(l.adopted, func() { endAdopted(l) })
	}
}

// TakeAlone has no other call be lent the session from now on, and reports whether none uses it.
func (l *Session) TakeAlone() bool {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	l.alone = l.alone || l.users == 1
	return l.alone
}

// isSpent reports whether the session takes no new call. The caller holds Registry.mu.
func (l *Session) isSpent() bool { return l.leaves || l.registry.settings().Isolation == PerCall }

// endAdopted ends a session that another berth has opened, once no tasks live in it.
func endAdopted(l *Session) {
	if d := l.TasksLive(); d > 0 {
		time.AfterFunc(d, func() { endAdopted(l) })
		return
	}
	l.StopListening()
	l.End(context.Background())
}

// GiveBackUnended is GiveBack of a session whose call has no answer, and may go on at the upstream: it may yet ask, and nobody else. A
// session that was lent to it alone takes no new call, and ends once nobody uses it and no tasks live in it.
func (l *Session) GiveBackUnended() {
	reg := l.registry
	reg.mu.Lock()
	l.leaves = l.leaves || l.alone && l.ID != "" // where there are no sessions, a server has but the call's own stream to ask on
	reg.mu.Unlock()
	l.GiveBack(false)
}

// Deny ends a use of the session, which the upstream knows no more. It may have been started anew: what else stands on the shelf is as old,
// and takes no new call.
func (l *Session) Deny() {
	l.registry.mu.Lock()
	l.shelf.endThose(func(other *Session) bool { return other != l })
	l.registry.mu.Unlock()
	l.GiveBack(true)
}

// Outdate has the session, which is given back, and all that is as old on its shelf, take no new call.
func (l *Session) Outdate() {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	l.shelf.endThose(func(other *Session) bool { return other != l })
	l.remove()
}

// Lose takes a session off its shelf that the upstream knows no more.
func (l *Session) Lose() {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	l.remove()
}

// LeaveToOthers forgets a session that another berth goes on with.
func (l *Session) LeaveToOthers() {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	l.remove()
	l.adopted = 0
}

// remove takes the session off its shelf, or keeps it off where it is being opened. The caller holds Registry.mu.
func (l *Session) remove() {
	if l.gone {
		return
	}
	l.gone = true
	l.cover()
	if s := l.shelf; slices.Contains(s.loans, l) {
		if l.parked {
			l.registry.parked--
		} else {
			l.registry.open--
		}
		l.registry.misses(l) // what was subscribed to in it is lost
		s.loans = slices.DeleteFunc(s.loans, func(other *Session) bool { return other == l })
		s.settle()
	}
}

// Read is what reads the answer to a request that id names, for as long as ctx lasts; it is asked nothing else.
func (l *Session) Read(ctx context.Context, out *exchange.Request, id []byte) *flow.Flow {
	return flow.New(ctx, &l.Session, &l.registry.replays, out, id, false)
}

// Answer has a call, which id names, be read, and asked what comes on the session's own stream. asks says that it may be.
func (l *Session) Answer(out *exchange.Request, id []byte, asks bool) *flow.Flow {
	fl := flow.New(context.Background(), &l.Session, &l.registry.replays, out, id, asks)
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	l.asker = fl
	l.called = l.called || asks
	return fl
}

// Leave ends a flow, and that its call is asked anything here.
func (l *Session) Leave(fl *flow.Flow) {
	fl.Stop()
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	if l.asker == fl {
		l.asker = nil
	}
}
