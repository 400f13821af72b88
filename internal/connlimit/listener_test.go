package connlimit_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/connlimit"
	"berth/internal/memnet"
	"berth/internal/realtest"
)

// open serves a listener on loopback whose connections stay open until their client
// closes them, and returns its address.
func open(t *testing.T, o connlimit.Options) string {
	t.Helper()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := connlimit.NewListener(inner, o)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.WriteString(c, "in")
				_, _ = io.Copy(io.Discard, c)
			}()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return inner.Addr().String()
}

// dial connects, and reports whether the connection may stand.
func dial(t *testing.T, address string) (net.Conn, bool) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetReadDeadline(time.Now().Add(realtest.Within)); err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadFull(c, make([]byte, 2))
	return c, err == nil
}

func TestAnAddressHoldsSoManyConnections(t *testing.T) {
	var journal realtest.Journal
	address := open(t, connlimit.Options{PerAddress: 4, Logger: slog.New(slog.NewTextHandler(&journal, nil))})
	var held []net.Conn
	for i := range 4 {
		c, ok := dial(t, address)
		if !ok {
			t.Fatalf("connection %d was refused", i)
		}
		held = append(held, c)
	}
	for range 3 {
		if _, ok := dial(t, address); ok {
			t.Fatal("a connection too many stands")
		}
	}
	if n := journal.Count("more are refused"); n != 1 {
		t.Errorf("told of %d times, want once:\n%s", n, &journal)
	}
	again := func() {
		t.Helper()
		realtest.Eventually(t, "room again", func() bool {
			c, ok := dial(t, address)
			held = append(held, c)
			return ok
		})
	}
	held[0].Close()
	again()
	if _, ok := dial(t, address); ok {
		t.Fatal("a connection too many stands")
	}
	if n := journal.Count("more are refused") + journal.Count("few connections again"); n != 1 {
		t.Errorf("told of %d times, though it still is at its limit:\n%s", n, &journal)
	}
	for _, c := range held {
		c.Close()
	}
	again()
	realtest.Eventually(t, "the end told of once", func() bool { return journal.Count("few connections again") == 1 })
}

func TestExemptPeersHoldAnyNumber(t *testing.T) {
	address := open(t, connlimit.Options{PerAddress: 1, Exempt: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for i := range 5 {
		if _, ok := dial(t, address); !ok {
			t.Fatalf("connection %d was refused", i)
		}
	}
}

func TestAddressTellsCallersApart(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"192.0.2.1", "::ffff:192.0.2.1"},
		{"2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff"},
		{"fe80::1%eth0", "fe80::2%eth1"},
	} {
		if a, b := connlimit.Address(netip.MustParseAddr(c.a)), connlimit.Address(netip.MustParseAddr(c.b)); a != b {
			t.Errorf("%s and %s are one caller, got %q and %q", c.a, c.b, a, b)
		}
	}
	for _, c := range []struct{ a, b string }{
		{"192.0.2.1", "192.0.2.2"},
		{"2001:db8::1", "2001:db8:0:1::1"},
	} {
		if a, b := connlimit.Address(netip.MustParseAddr(c.a)), connlimit.Address(netip.MustParseAddr(c.b)); a == b {
			t.Errorf("%s and %s are two callers, got %q for both", c.a, c.b, a)
		}
	}
}

// starving is a listener without descriptors for a while.
type starving struct {
	net.Listener
	failures int
}

func (s *starving) Accept() (net.Conn, error) {
	if s.failures > 0 {
		s.failures--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return s.Listener.Accept()
}

// TestAcceptErrorsAreToldOnce: they stay temporary to net/http's server, which tries
// again, and the operator hears of the beginning and the end, however often accepting
// works in between.
func TestAcceptErrorsAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var journal realtest.Journal
		inner := &starving{Listener: memnet.Listen("berth")}
		l := connlimit.NewListener(inner, connlimit.Options{Logger: slog.New(slog.NewTextHandler(&journal, nil))})
		accept := func() {
			t.Helper()
			go func() {
				if c, err := inner.Listener.(*memnet.Listener).Dial(t.Context()); err == nil {
					c.Close()
				}
			}()
			c, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
		}
		for range 3 {
			inner.failures = 2
			for range 2 {
				_, err := l.Accept()
				var temporary interface{ Temporary() bool }
				if !errors.As(err, &temporary) || !temporary.Temporary() {
					t.Fatalf("got %v, want an error that is temporary", err)
				}
			}
			accept()
		}
		if journal.Count("cannot be accepted") != 1 || journal.Count("accepted again") != 0 {
			t.Errorf("want one line of the beginning, and none of an end yet:\n%s", &journal)
		}
		time.Sleep(time.Minute)
		accept()
		if journal.Count("accepted again") != 1 {
			t.Errorf("want one line of the end:\n%s", &journal)
		}
		l.Close()
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) || journal.Count("cannot be accepted") != 1 {
			t.Errorf("the end of the listener, %v, is told as a failure:\n%s", err, &journal)
		}
	})
}
