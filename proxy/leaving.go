package proxy

import (
	"context"
	"sync"
	"time"

	"berth/proxy/failover"
	"berth/routing"
)

// leaving returns a channel that is closed once the stream is to end because its session is to leave
// the upstream. stop must be called.
func (s *stream) leaving() (leaves <-chan struct{}, stop func()) {
	if !s.mayLeave() {
		return nil, func() {}
	}
	left := make(chan struct{})
	return left, s.onLeaving(sync.OnceFunc(func() { close(left) }))
}

// mayLeave reports whether the stream stands in a session that can be opened elsewhere, as far as is known.
func (s *stream) mayLeave() bool {
	c := s.x.Case()
	return s.x.Stands && (!s.x.Stays || s.x.LeavesLater) && s.x.Single() == nil && (c.MayReopen() || c.Unread())
}

// onLeaving calls leave when the session of a stream that may leave is to. It must not wait. stop must be called.
func (s *stream) onLeaving(leave func()) (stop func()) {
	if s.x.Stays {
		return s.onceTakenOver(leave)
	}
	if s.x.Case().Unread() {
		s.x.Keep() // the store may be asked when the stream is over
		return s.onceRead(s.x.Case(), leave)
	}
	return s.onMove(leave)
}

// onMove calls told when sessions are to leave the upstream. It must not wait. stop must be called.
func (s *stream) onMove(told func()) (stop func()) {
	return s.u.OnDrain(func(mark routing.Drain) {
		if mark.MoveSessions {
			told()
		}
	})
}

// onceRead is onLeaving of a stream of which only the store can say whether its session can be opened elsewhere.
func (s *stream) onceRead(c failover.Case, leave func()) (stop func()) {
	at := *c.At // others read the request's
	c.At = &at
	ctx, end := context.WithCancel(context.Background())
	forget := s.onMove(func() { go s.leaveOnceRead(ctx, c, leave) })
	return func() {
		forget()
		end()
	}
}

func (s *stream) leaveOnceRead(ctx context.Context, c failover.Case, leave func()) {
	tick := time.NewTicker(lookForOthers)
	defer tick.Stop()
	for c.ReadKept(ctx) != nil {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !s.u.MovesSessions() {
			return
		}
	}
	if c.MayReopen() {
		leave()
	}
}

// lookForOthers is how often a stream that leaves later looks for others, and for the store.
const lookForOthers = 2 * time.Second

// onceTakenOver calls leave when sessions are to leave the upstream and another one is up, unless stop
// is called before.
func (s *stream) onceTakenOver(leave func()) (stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		tick := time.NewTicker(lookForOthers)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if s.u.MovesSessions() && s.x.Pool().IsTakenOver(s.u) {
				leave()
				return
			}
		}
	}()
	return stop
}
