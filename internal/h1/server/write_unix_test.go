//go:build unix

package server

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"berth/internal/realtest"
)

// A write that the kernel takes at once sets no deadline; one that waits has its time, and so have those after it.
func TestADeadlineIsSetByAWriteThatWaits(t *testing.T) {
	near, client := realtest.Pair(t)
	c, set := newConn(New(Options{}), near), 0
	c.writing.set = func(at time.Time) error {
		set++
		return near.SetWriteDeadline(at)
	}
	_, _ = client.Write([]byte("x"))
	if err := c.in.WaitReadable(); err != nil || c.in.Raw() == nil {
		t.Fatalf("no connection of the kernel's: %v", err)
	}
	send := func(b []byte, within time.Duration) error {
		return c.send(&net.Buffers{b}, time.Now().Add(within))
	}
	for range 10 {
		if err := send([]byte("event"), time.Minute); err != nil || set > 0 {
			t.Fatalf("got %v, and %d deadlines", err, set)
		}
	}
	if err := send(make([]byte, 64<<20), 20*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) || set == 0 {
		t.Fatalf("of what nobody takes: got %v, and %d deadlines", err, set)
	}
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		_, _ = io.Copy(io.Discard, client)
	}()
	if err := send([]byte("event"), time.Minute); err != nil {
		t.Errorf("after one that was late: got %v", err)
	}
	_ = near.Close()
	<-taken
}
