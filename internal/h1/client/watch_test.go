package client

import (
	"context"
	"io"
	"net"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/memnet"
	"berth/internal/wire"
)

// ending is a context that never takes back what is to run at its end, as that of a shared poll.
type ending struct{ context.Context }

func (ending) AfterFunc(func()) (stop func() bool) { return func() bool { return false } }

// A connection whose exchange was watched is kept, though its context goes on to hold what was to end it: each poll
// that took longer than a few milliseconds once made a connection of its own.
func TestAConnectionIsKeptThatWasWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := memnet.Listen("a")
		dials := 0
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				dials++
				go slowly(conn)
			}
		}()
		c := New(Options{Dial: memnet.Dialer(listener)})
		for range 3 {
			ctx, leave := context.WithCancel(t.Context())
			response, err := c.Send(ending{ctx}, &exchange.Request{Method: wire.MethodGet, URL: &url.URL{Scheme: "http", Host: "a", Path: "/"}, Header: new(wire.Header)}, 0)
			if err != nil {
				t.Fatal(err)
			}
			exchangetest.ReadAll(t, response)
			leave()
		}
		c.Close()
		_ = listener.Close()
		synctest.Wait()
		if dials != 1 {
			t.Errorf("got %d connections, want one", dials)
		}
	})
}

// aware is a context that knows by itself what is to be done at its end.
type aware struct {
	context.Context
	asked, stopped int
}

func (a *aware) OnEnd(func()) (stop func() bool) {
	a.asked++
	return func() bool {
		a.stopped++
		return true
	}
}

// A context that sees to its end itself is asked to, and asked no more once the exchange is over.
func TestAContextThatIsAwareOfItsEndIsAskedItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := memnet.Listen("a")
		go func() {
			if conn, err := listener.Accept(); err == nil {
				slowly(conn)
			}
		}()
		c := New(Options{Dial: memnet.Dialer(listener)})
		ctx := &aware{Context: t.Context()}
		response, err := c.Send(ctx, &exchange.Request{Method: wire.MethodGet, URL: &url.URL{Scheme: "http", Host: "a", Path: "/"}, Header: new(wire.Header)}, 0)
		if err != nil {
			t.Fatal(err)
		}
		exchangetest.ReadAll(t, response)
		if ctx.asked != 1 || ctx.stopped != 1 {
			t.Errorf("asked %d times, stopped %d times", ctx.asked, ctx.stopped)
		}
		c.Close()
		_ = listener.Close()
	})
}

// slowly answers each request after the time from which exchanges are watched.
func slowly(conn net.Conn) {
	buffer := make([]byte, 1<<10)
	for {
		if _, err := conn.Read(buffer); err != nil {
			return
		}
		time.Sleep(4 * unwatched)
		_, _ = io.WriteString(conn, two)
	}
}
