//go:build unix

package systemd

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"berth/internal/realtest"
)

// The manager hears that a process lives which has no file left.
func TestManagerIsToldWithoutAFileLeft(t *testing.T) {
	conn, n := listen(t), Notifier{}
	n.Ready("serving")
	hear(t, conn)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	none := before
	none.Cur = 1
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	n.Status("at rest", 0)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	n.Stopping("draining") // is heard in any case
	if got := hear(t, conn); got != "STATUS=at rest" {
		t.Errorf("got %q", got)
	}
}

// One that was started anew is found again.
func TestManagerIsFoundAgain(t *testing.T) {
	first, n := listen(t), Notifier{}
	n.Ready("one")
	hear(t, first)
	first.Close()
	second := listen(t)
	n.Ready("two")
	if got := hear(t, second); got != "READY=1\nSTATUS=two" {
		t.Errorf("got %q", got)
	}
}

// One that reads nothing holds up neither a drain nor a reading of the configuration: what it is told is lost.
func TestAManagerThatReadsNothingHoldsUpNobody(t *testing.T) {
	listen(t)
	told := make(chan error, 1)
	go func() {
		for range 10_000 { // more than any kernel queues
			if err := theManager.tell("STATUS=draining"); err != nil {
				told <- err
				return
			}
		}
		told <- nil
	}()
	select {
	case err := <-told:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	case <-time.After(realtest.Within):
		t.Error("it is waited for")
	}
}
