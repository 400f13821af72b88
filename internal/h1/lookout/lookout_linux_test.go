package lookout

import (
	"net"
	"syscall"
	"testing"
	"time"

	"berth/internal/realtest"
)

// talk is a connection: both its ends, and the first as the kernel has it.
func talk(t *testing.T) (here, there net.Conn, raw syscall.RawConn) {
	t.Helper()
	here, there = realtest.Pair(t)
	raw, err := here.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return here, there, raw
}

// watched brings a connection into view. What is told arrives on seen.
func watched(t *testing.T, l *Lookout, raw syscall.RawConn, of Sight) (s *Sighting, seen chan struct{}) {
	t.Helper()
	t.Cleanup(l.End)
	if s = l.View(raw, of); s == nil {
		t.Fatal("it cannot be seen")
	}
	seen = make(chan struct{}, 8)
	l.Watch(s, func() { seen <- struct{}{} })
	return s, seen
}

func isSeen(t *testing.T, seen <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-seen:
	case <-time.After(10 * time.Second):
		t.Fatal(what, "is not seen")
	}
}

// What comes is seen once, and once more each time that it is to be: also what had come before, and was not read.
func TestWhatComesIsSeenOnceEachTime(t *testing.T) {
	var l Lookout
	here, there, raw := talk(t)
	s, seen := watched(t, &l, raw, Arriving)
	for range 3 {
		if _, err := there.Write([]byte("ab")); err != nil {
			t.Fatal(err)
		}
		isSeen(t, seen, "what came")
		if len(seen) > 0 {
			t.Error("it was seen twice")
		}
		if _, err := here.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if !l.Again(raw, s, Arriving) {
			t.Fatal("it cannot be seen again")
		}
		isSeen(t, seen, "what was left")
		if _, err := here.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if !l.Again(raw, s, Arriving) {
			t.Fatal("it cannot be seen again")
		}
	}
	_ = there.Close()
	isSeen(t, seen, "the end")
	_ = here.Close()
	if l.Again(raw, s, Arriving) {
		t.Error("what is closed can be seen again")
	}
}

// What is always seen is told of each time that something comes, not of what was left, and whether the other end has left; until the
// lookout looks away.
func TestWhatIsAlwaysSeenIsToldOfWhatComes(t *testing.T) {
	var l Lookout
	here, there, raw := talk(t)
	s, seen := watched(t, &l, raw, Arriving)
	if !l.Always(raw, s) {
		t.Fatal("it cannot be seen always")
	}
	say := func() {
		if _, err := there.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		say()
		isSeen(t, seen, "what came")
	}
	if s.HasLeft() {
		t.Error("it has left, and is there")
	}
	l.Away(raw, s)
	say()
	_, other, otherRaw := talk(t)
	_, otherSeen := watched(t, &l, otherRaw, Arriving)
	_, _ = other.Write([]byte("a"))
	isSeen(t, otherSeen, "the other")
	if len(seen) > 0 {
		t.Error("it is seen, though the lookout looks away")
	}
	if !l.Always(raw, s) {
		t.Fatal("it cannot be seen always")
	}
	isSeen(t, seen, "what had come")
	_ = there.Close()
	isSeen(t, seen, "the end")
	if !s.HasLeft() {
		t.Error("it has not left")
	}
	_ = here.Close()
	if l.Always(raw, s) {
		t.Error("what is closed can be seen")
	}
}

// Who only looks for departures does not see what comes. One that was seen before somebody watched is told at once.
func TestDeparturesAreSeen(t *testing.T) {
	var l Lookout
	_, there, raw := talk(t)
	s, seen := watched(t, &l, raw, Leaving)
	if _, err := there.Write([]byte("a")); err != nil {
		t.Fatal(err)
	}
	_ = there.Close()
	isSeen(t, seen, "the departure")
	late := make(chan struct{})
	l.Watch(s, func() { close(late) })
	isSeen(t, late, "the departure before")
	if len(seen) > 0 {
		t.Error("it was seen more than once")
	}
}

// One that was forgotten is not told of, and a lookout that has ended sees nobody.
func TestForgottenConnectionsAreNotSeen(t *testing.T) {
	var l Lookout
	_, there, raw := talk(t)
	s, seen := watched(t, &l, raw, Arriving)
	l.Forget(s)
	_, other, otherRaw := talk(t)
	_, otherSeen := watched(t, &l, otherRaw, Arriving)
	_, _ = there.Write([]byte("a"))
	_, _ = other.Write([]byte("a"))
	isSeen(t, otherSeen, "the other")
	if len(seen) > 0 {
		t.Error("it is seen, though it was forgotten")
	}
	l.End()
	if l.View(raw, Arriving) != nil {
		t.Error("it is seen by a lookout that has ended")
	}
}

// A lookout ends while it tells of those who leave: neither waits for the other.
func TestItEndsWhileOthersLeave(t *testing.T) {
	for range 600 {
		var l Lookout
		var all []net.Conn
		for range 4 {
			_, there, raw := talk(t)
			s := l.View(raw, Leaving)
			if s == nil {
				t.Fatal("it cannot be seen")
			}
			l.Watch(s, func() {})
			all = append(all, there)
		}
		over := make(chan struct{})
		for _, there := range all {
			_ = there.Close()
		}
		go func() {
			l.End()
			close(over)
		}()
		select {
		case <-over:
		case <-time.After(10 * time.Second):
			t.Fatal("it does not end")
		}
	}
}
