package preamble_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/memnet"
)

// letIn dials a listener, for as long as the test lasts.
func letIn(t *testing.T, listener *memnet.Listener) net.Conn {
	t.Helper()
	conn, err := listener.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// What was accepted when a listener is closed is handed on once it has begun: its client was let in.
func TestWhoBeginsWhenAListenerClosesIsHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, second, others, _, client := site(t)
		clients := map[string]net.Conn{}
		for _, offers := range []string{"h2", "http/1.1"} {
			clients[offers] = letIn(t, listener)
		}
		synctest.Wait()
		if err := others.Close(); err != nil {
			t.Error(err)
		}
		if _, err := listener.Dial(t.Context()); err == nil {
			t.Error("it listens still")
		}
		for offers, raw := range clients {
			config := client.Clone()
			config.NextProtos = []string{offers}
			if err := tls.Client(raw, config).HandshakeContext(context.Background()); err != nil {
				t.Errorf("%s: %v", offers, err)
			}
		}
		for offers, to := range map[string]net.Listener{"h2": second, "http/1.1": others} {
			got, err := to.Accept()
			if err != nil {
				t.Errorf("%s: got %v, want the connection", offers, err)
				continue
			}
			_ = clients[offers].Close()
			_ = got.Close()
		}
		for _, to := range []net.Listener{second, others} {
			if _, err := to.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("behind them: got %v", err)
			}
		}
	})
}

// Who never begins holds up no end.
func TestWhoNeverBeginsHoldsUpNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, second, others, _, _ := site(t)
		letIn(t, listener)
		synctest.Wait()
		began := time.Now()
		_ = others.Close()
		for _, l := range []net.Listener{second, others} {
			if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) || time.Since(began) > 2*time.Second {
				t.Errorf("got %v after %v", err, time.Since(began))
			}
		}
	})
}

// Who closes once more ends what begins still.
func TestClosedTwiceAListenerEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, second, others, _, _ := site(t)
		letIn(t, listener)
		synctest.Wait()
		began := time.Now()
		_, _ = others.Close(), others.Close()
		if _, err := second.Accept(); !errors.Is(err, net.ErrClosed) || time.Since(began) > 0 {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

// What a listener has accepted when it is closed is handed on once its header is there.
func TestWhoBeginsWithAHeaderWhenItsListenerClosesIsHandedOn(t *testing.T) {
	listener, dial := gate(t, true)
	accepted := func() <-chan error {
		all := make(chan error, 1)
		go func() {
			conn, err := listener.Accept()
			if err == nil {
				conn.Close()
			}
			all <- err
		}()
		return all
	}
	const header = "PROXY TCP4 198.51.100.7 192.0.2.1 4711 443\r\n"
	late := dial()
	dial([]byte(header)) // was accepted behind the other one
	if err := <-accepted(); err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if _, err := late.Write([]byte(header)); err != nil {
		t.Error(err)
	}
	if err := <-accepted(); err != nil {
		t.Errorf("got %v, want the connection", err)
	}
}
