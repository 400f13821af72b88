package sessions

import (
	"context"
	"time"

	"berth/internal/exchange"
	"berth/proxy/bridge/legacy"
	"berth/proxy/resident"
)

// Places bounds the processes that one caller's calls have at a server that berth runs. By stdio
// nothing tells which call asks: so each call that may be asked has a process to itself, and waits
// where all are taken.
const Places = 8

// Lend returns a session at an upstream for a call, alone where that may be asked something. GiveBack ends the loan.
func (reg *Registry) Lend(ctx context.Context, at *legacy.Upstream, b *Borrower, alone bool) (*Session, error) {
	for {
		l, wait, err := reg.tryLend(ctx, at, b, alone)
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

// tryLend is Lend, unless there is something to wait for.
func (reg *Registry) tryLend(ctx context.Context, at *legacy.Upstream, b *Borrower, alone bool) (l *Session, wait chan struct{}, err error) {
	key := b.key()
	reg.mu.Lock()
	reg.shelves[key].retire()
	s := reg.shelfOf(key, b.Whose())
	if l = s.own(b.Prefers, alone); l == nil {
		l = s.fit(alone)
	}
	place, free := s.place(alone)
	switch {
	case l != nil && b.Among != PerCall:
		l.users++
		l.alone = alone
		l.noteUse(b.Out)
		reg.mu.Unlock()
		return l, nil, nil
	case !alone && s.opening && b.Among != PerCall:
		reg.mu.Unlock()
		return nil, s.changed, nil
	case reg.open >= reg.settings().Most && !reg.endIdle() && !reg.park(reg.greediest(b.Whose())):
		s.settle()
		greedy := reg.greediest(b.Whose())
		reg.mu.Unlock()
		if greedy != "" && reg.around.GiveUpOldest(func(l *Session) bool { return l.shelf != nil && l.shelf.whose == greedy }) {
			return nil, s.changed, nil
		}
		return nil, nil, turnedAway(errTooMany)
	case !free && resident.Is(at.URL):
		reg.mu.Unlock()
		reg.around.GiveUpOldest(func(l *Session) bool { return l.shelf != nil && l.shelf.key == key }) // whoever is asked may not come back
		return nil, s.changed, nil
	}
	reg.open++
	s = reg.shelfOf(key, b.Whose()) // with the session that was ended it may have been forgotten
	s.opening = s.opening || !alone
	pending := &Session{registry: reg, shelf: s, Place: place, users: 1, alone: true}
	s.loans = append(s.loans, pending) // its place is taken
	reg.mu.Unlock()
	done := make(chan newLoan, 1)
	go func() { done <- reg.put(ctx, at, b, pending, alone) }()
	select {
	case o := <-done:
		return o.l, nil, o.err
	case <-ctx.Done():
		go func() { // what the server opens nobody else can end
			if o := <-done; o.l != nil {
				o.l.GiveBack(false)
			}
		}()
		return nil, nil, &exchange.SendError{Err: context.Cause(ctx)}
	}
}
