package sockets

import (
	"errors"
	"net"
	"testing"
	"time"

	"berth/internal/realtest"
)

// failing is a socket by which no connection comes.
type failing struct{ socket }

func (failing) Accept() (net.Conn, error) { return nil, errors.New("none") }

// That nobody accepts is told by a clock that nobody sets: the watchdog would have a process ended that is well.
func TestAStepOfTheClockLeavesNoListenerStuck(t *testing.T) {
	for _, set := range []time.Duration{time.Hour, -time.Hour} {
		l := newListener(failing{}, false)
		l.begun = realtest.SetBack(time.Now().Add(-time.Second), set)
		if l.Stuck(0) {
			t.Errorf("clock set by %v: stuck though nobody has begun", set)
		}
		if _, err := l.Accept(); err == nil {
			t.Fatal("a connection came")
		}
		if l.Stuck(5 * time.Second) {
			t.Errorf("clock set by %v: stuck at once", set)
		}
		l.since.Add(-int64(6 * time.Second))
		if !l.Stuck(5 * time.Second) {
			t.Errorf("clock set by %v: not stuck when nobody has accepted for 6 s", set)
		}
	}
}
