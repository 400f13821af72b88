package bridge

import (
	"context"
	"slices"
	"strconv"
	"time"

	"berth/internal/exchange"
	"berth/proxy/resident"
)

// places bounds the processes that one caller's calls have at a server that berth runs. By stdio
// nothing tells which call asks: so each call that may be asked has a process to itself, and waits
// where all are taken.
const places = 8

// lend returns a session for a call, alone where that may be asked something.
func (c *call) lend(ctx context.Context, alone bool) (*loan, error) {
	for {
		l, wait, err := c.tryLend(ctx, alone)
		if err != nil || l != nil {
			return l, err
		}
		select {
		case <-wait:
		case <-time.After(lendAgain):
		case <-ctx.Done():
			return nil, &exchange.SendError{Err: context.Cause(ctx)}
		}
	}
}

// lendAgain is when a call that waits for a session looks again: of several that wait one is told.
const lendAgain = 100 * time.Millisecond

// tryLend is lend, unless there is something to wait for.
func (c *call) tryLend(ctx context.Context, alone bool) (l *loan, wait chan struct{}, err error) {
	f, key := c.f, c.key()
	f.mu.Lock()
	s := f.shelfOf(key, c.whose())
	if l = s.own(c.prefers, alone); l == nil {
		l = s.fit(alone)
	}
	place, free := s.place(alone)
	switch {
	case l != nil && c.among != PerCall:
		l.users++
		l.alone = alone
		f.mu.Unlock()
		return l, nil, nil
	case !alone && s.opening && c.among != PerCall:
		f.mu.Unlock()
		return nil, s.changed, nil
	case f.open >= f.b.options().Sessions && !f.endIdle():
		s.settle()
		greedy := f.greediest(c.whose())
		f.mu.Unlock()
		if greedy != "" && f.holds.giveUpOldest(func(s *shelf) bool { return s.whose == greedy }) {
			return nil, s.changed, nil
		}
		return nil, nil, errTooManySessions
	case !free && resident.Is(f.u.URL):
		f.mu.Unlock()
		f.holds.giveUpOldest(func(s *shelf) bool { return s.key == key }) // whoever is asked may not come back
		return nil, s.changed, nil
	}
	f.open++
	s.opening = s.opening || !alone
	pending := &loan{f: f, shelf: s, place: place, users: 1, alone: true}
	s.loans = append(s.loans, pending) // its place is taken
	f.mu.Unlock()
	done := make(chan newLoan, 1)
	go func() { done <- c.open(ctx, pending, alone) }()
	select {
	case o := <-done:
		return o.l, nil, o.err
	case <-ctx.Done():
		go func() { // what the server opens nobody else can end
			if o := <-done; o.l != nil {
				o.l.giveBack(false)
			}
		}()
		return nil, nil, &exchange.SendError{Err: context.Cause(ctx)}
	}
}

// newLoan is what has come of opening a session.
type newLoan struct {
	l   *loan
	err error
}

// open puts a session in the place of one that is to be opened, be its caller there still or not.
func (c *call) open(ctx context.Context, pending *loan, alone bool) newLoan {
	f, s := c.f, pending.shelf
	l, err := c.openSession(context.WithoutCancel(ctx), s, pending.place)
	f.mu.Lock()
	defer f.mu.Unlock()
	defer s.tell()
	s.opening = s.opening && alone
	i := slices.Index(s.loans, pending)
	if err != nil {
		f.open--
		s.loans = slices.Delete(s.loans, i, i+1)
		s.settle()
		return newLoan{nil, err}
	}
	l.users, l.alone = 1, alone
	s.loans[i] = l
	if len(f.listeners[s.whose]) > 0 {
		go l.listen(context.WithoutCancel(ctx), c.out, "")
	}
	return newLoan{l, nil}
}

// fit returns the session that was used last of those that may be lent; nil if there is none.
func (s *shelf) fit(alone bool) *loan {
	for _, l := range slices.Backward(s.loans) {
		if l.users == 0 || !alone && !l.alone {
			return l
		}
	}
	return nil
}

// place returns the least number that no session of the shelf has. What may not be asked needs no
// place of its own.
func (s *shelf) place(alone bool) (place int, free bool) {
	for place = 0; slices.ContainsFunc(s.loans, func(l *loan) bool { return l.place == place }); place++ {
	}
	return place, !alone || place < places
}

// tell wakes one that waits for a session.
func (s *shelf) tell() {
	if s == nil {
		return
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// placed is in whose name a session is opened: of a server that berth runs, a process is one
// caller's, and one place's.
func (c *call) placed(place int) *exchange.Request {
	return c.placedAs(string(c.client.AsksClient()), place)
}

// placedAs is placed for a client that declares this.
func (c *call) placedAs(declared string, place int) *exchange.Request {
	if !resident.Is(c.f.u.URL) {
		return c.out
	}
	as := *c.out
	as.Caller = c.whose() + declared + "/" + strconv.Itoa(place)
	return &as
}
