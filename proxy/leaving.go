package proxy

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"berth/internal/mcp"
	"berth/proxy/failover"
	"berth/routing"
	"berth/sticky"
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
	c := s.x.asCase()
	return s.x.Stands && (!s.x.stays || s.x.leavesLater) && s.x.Single() == nil && (c.MayReopen() || c.Unread())
}

// onLeaving calls leave when the session of a stream that may leave is to. It must not wait. stop must be called.
func (s *stream) onLeaving(leave func()) (stop func()) {
	if s.x.stays {
		return s.onceTakenOver(leave)
	}
	if s.x.asCase().Unread() {
		s.x.keep() // the store may be asked when the stream is over
		return s.onceRead(s.x.asCase(), leave)
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

// answersFormer has a client's answer go to an upstream that its session has left, which may have
// asked in a call that still runs there. It reports false if there is none, or the answer is to
// nothing that one asked.
func (x *request) answersFormer() bool {
	return slices.ContainsFunc(x.decision.Binding.Formers(), x.answersAt)
}

func (x *request) answersAt(place sticky.Place) bool {
	former := x.Pool().Find(place.Upstream)
	if former == nil || former.Silent() {
		return false
	}
	alias, err := x.way().AliasIn(place.Alias)
	if err != nil {
		return false
	}
	present := x.Alias
	if x.Alias = alias; alias != "" {
		body, ok := mcp.UntagResponse(bytes.TrimSpace(x.Body), x.way().Tag())
		if !ok {
			x.Alias = present
			return false
		}
		x.Call = x.WithBody(body)
	}
	x.decision.Owner, x.decision.Alias, x.stays = former, place.Alias, true
	return true
}
