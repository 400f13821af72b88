package redis

import (
	"context"
	"errors"
	"testing"
	"time"

	"berth/internal/storage/engine"
	"berth/internal/storage/redistest"
)

// hurried is a command whose caller leaves then.
func hurried(key string, end time.Time) *passenger {
	p := &passenger{arrived: make(chan bool, 1), end: end}
	p.request = p.request.begin(2).text("get").text(key)
	return p
}

// boarded waits until so many are aboard of the first lane.
func (t *trips) boarded(test *testing.T, want int) {
	test.Helper()
	until(test, "all are aboard", func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return len(t.lanes[0].aboard) == want
	})
}

// carried carries a command that is to tell why it has no answer.
func (t *trips) carried(test *testing.T, p *passenger) (why <-chan error) {
	told := make(chan error)
	go func() {
		tells, err := t.carry(p)
		if !tells {
			test.Error("nobody tells of it")
		}
		told <- err
	}()
	return told
}

// Who is in a hurry goes by the connection that a lane has, and by itself where there is none, or one that was closed.
func TestWhoIsInAHurryLeadsByAConnectionThatIsThere(t *testing.T) {
	server := redistest.Start(t)
	s := tripsTo(t, server.Addr, time.Minute)
	server.Do("SET", "k", "v")
	ask := func(within time.Duration) (string, error) {
		p := hurried("k", time.Now().Add(within))
		if _, err := s.carry(p); err != nil {
			return "", err
		}
		return string(p.answer.of(0)), nil
	}
	if _, err := ask(time.Minute); err != engine.ErrAshore {
		t.Errorf("without a connection: got %v", err)
	}
	if _, _, err := s.get("k"); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(s.least / 2); err != engine.ErrAshore {
		t.Errorf("with one, and too little time for others: got %v", err)
	}
	if got, err := ask(time.Minute); err != nil || got != "v" {
		t.Errorf("with one: got %q, %v", got, err)
	}
	by := s.lanes[0].link
	if left := time.Until(by.deadline); left > s.timeout {
		t.Errorf("its trip ends in %v, want %v at most", left, s.timeout)
	}
	server.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	by.used = by.used.Add(-time.Second)
	until(t, "the end of the connection is seen", func() bool { return !by.socket.stands() })
	if _, err := ask(time.Minute); err != engine.ErrAshore || s.lanes[0].link != nil {
		t.Errorf("with one that was closed: got %v", err)
	}
	s.areIdle(t)
}

// A trip that takes long keeps nobody who is in a hurry: what was not sent goes by itself.
func TestWhoIsInAHurryWaitsForATripNoLongerThanThereIsTime(t *testing.T) {
	server := redistest.Start(t)
	s := tripsTo(t, server.Addr, time.Minute)
	s.lanes = s.lanes[:1]
	server.Do("SET", "k", "v")
	a := hurried("k", time.Time{})
	on, _ := s.board(a)
	s.mu.Lock()
	on.state = underWay
	s.mu.Unlock()
	if _, err := s.carry(hurried("k", time.Now().Add(s.least+50*time.Millisecond))); err != engine.ErrAshore {
		t.Errorf("got %v", err)
	}
	s.boarded(t, 1)
	s.lead(on, a)
	if !a.answered || string(a.answer.of(0)) != "v" {
		t.Errorf("the trip: got %v", a.err)
	}
	s.areIdle(t)
}

// Who is in a hurry does not wait for a connection that is to be made.
func TestNobodyInAHurryWaitsForAConnection(t *testing.T) {
	server := redistest.Start(t)
	s := tripsTo(t, server.Addr, time.Minute)
	server.Do("SET", "k", "v")
	a, late := hurried("k", time.Time{}), hurried("k", time.Now().Add(time.Minute))
	on, _ := s.board(a)
	told := s.carried(t, late)
	s.boarded(t, 2)
	s.lead(on, a)
	if err := <-told; err != engine.ErrAshore {
		t.Errorf("got %v", err)
	}
	if !a.answered || string(a.answer.of(0)) != "v" {
		t.Errorf("the trip: got %v", a.err)
	}
	s.areIdle(t)
}

// Who may not lead any more has the next one do so.
func TestTheLeadIsPassedOn(t *testing.T) {
	s := &trips{lanes: make([]lane, 1), least: time.Minute}
	late, next := hurried("k", time.Now()), hurried("k", time.Time{})
	on, leads := s.board(late)
	s.board(next)
	if !leads || s.mayLead(on, late) || !s.stepOff(on, late, true) {
		t.Error("who has no time leads")
	}
	select {
	case leads = <-next.arrived:
	default:
		leads = false
	}
	if !leads {
		t.Error("nobody leads")
	}
	if !s.stepOff(on, next, true) || s.stepOff(on, next, false) {
		t.Error("the last one is still aboard")
	}
	s.areIdle(t)
}

// Who leaves in the middle of a trip has no answer, and nobody has it in place of his own.
func TestWhoLeavesATripHasNoAnswer(t *testing.T) {
	server := redistest.Start(t)
	s := tripsTo(t, server.Addr, time.Minute)
	s.lanes, s.least = s.lanes[:1], 0
	for _, key := range []string{"a", "leaves", "b"} {
		server.Do("SET", key, key)
	}
	if _, _, err := s.get("a"); err != nil {
		t.Fatal(err)
	}
	a, leaves, b := hurried("a", time.Time{}), hurried("leaves", time.Now().Add(5*time.Second)), hurried("b", time.Time{})
	on, _ := s.board(a)
	left, whole := s.carried(t, leaves), make(chan error)
	s.boarded(t, 2)
	go func() {
		_, err := s.carry(b)
		whole <- err
	}()
	s.boarded(t, 3)
	server.Stop()
	led := make(chan struct{})
	go func() {
		defer close(led)
		s.lead(on, a)
	}()
	if err := <-left; !errors.Is(err, context.DeadlineExceeded) || !leaves.left {
		t.Errorf("got %v", err)
	}
	leaves.letGo()
	for range 8 {
		if p := passengers.Get().(*passenger); p == leaves {
			t.Error("a command that is under way is used again")
		}
	}
	server.Cont()
	if err := <-whole; err != nil || string(b.answer.of(0)) != "b" {
		t.Errorf("b: got %+v, %v", b.answer, err)
	}
	if <-led; !a.answered || string(a.answer.of(0)) != "a" {
		t.Errorf("a: got %+v, %v", a.answer, a.err)
	}
	if _, got, err := s.get("b"); err != nil || got != "b" {
		t.Errorf("afterwards: got %q, %v", got, err)
	}
	s.areIdle(t)
}

// What steps off is done all the same when it goes by itself.
func TestWhatSteppedOffIsDone(t *testing.T) {
	r := engineOn(t, redistest.Start(t).Addr, 4, 4*time.Second) // one lane
	on, _ := r.trips.board(hurried("k", time.Time{}))
	r.trips.mu.Lock()
	on.state = underWay
	r.trips.mu.Unlock()
	creation := []engine.Write{{Key: "k", Value: []byte("v"), TTL: time.Hour}}
	hurry := engine.Within(t.Context(), r.trips.timeout)
	begun, cancel := engine.Begun(hurry)
	defer cancel()
	if err := r.Each(begun, creation); err != engine.ErrAshore {
		t.Errorf("by the lane: got %v, want that it steps off", err)
	}
	if err := r.Each(engine.Alone(hurry), creation); err != nil || !creation[0].Done {
		t.Errorf("by itself: got %v, %+v", err, creation[0])
	}
	if on.link != nil {
		t.Error("it went by the lane")
	}
}
