package admin

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
)

// starved is a listener for which there are no file descriptors for a minute; then it is given a connection for each word in fed.
type starved struct {
	since       time.Time
	fed, closed chan struct{}
}

func (s *starved) Accept() (net.Conn, error) {
	if time.Since(s.since) < time.Minute {
		return nil, noFiles{}
	}
	select {
	case <-s.fed:
		mine, theirs := net.Pipe()
		_ = theirs.Close()
		return mine, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *starved) Close() error {
	close(s.closed)
	return nil
}

func (*starved) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// noFiles is how accepting fails for want of them.
type noFiles struct{}

func (noFiles) Error() string   { return "too many open files" }
func (noFiles) Timeout() bool   { return false }
func (noFiles) Temporary() bool { return true }

// That connections cannot be accepted is told once, as it begins, and so is its end.
func TestThatNothingIsAcceptedIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log realtest.Journal
		listener := &starved{since: time.Now(), fed: make(chan struct{}), closed: make(chan struct{})}
		s := newServer(Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, listener, true)
		ctx, end := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- s.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		if said := log.String(); strings.Count(said, "level=WARN") != 1 || !strings.Contains(said, "connections cannot be accepted; it is tried again") || !strings.Contains(said, "listener=admin") {
			t.Errorf("in a minute without files it said:\n%s", said)
		}
		for range 2 {
			time.Sleep(10 * time.Second)
			listener.fed <- struct{}{}
		}
		synctest.Wait()
		if n := log.Count("connections are accepted again"); n != 1 {
			t.Errorf("told %d times that it is over:\n%s", n, &log)
		}
		end()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}
