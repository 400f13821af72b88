package client

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/memnet"
)

// slowDial makes connections to nobody in a second, and counts those that it makes at once.
type slowDial struct {
	now, most atomic.Int64
	err       error
}

func (d *slowDial) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	d.most.Store(max(d.most.Load(), d.now.Add(1)))
	defer d.now.Add(-1)
	select {
	case <-time.After(time.Second):
		return nil, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestConnectionsAreMadeABoundedNumberAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &slowDial{err: syscall.ECONNREFUSED}
		c := New(Options{Dial: d.dial})
		var all sync.WaitGroup
		begun := time.Now()
		for range 3*maxDials + 1 {
			all.Go(func() {
				exchangetest.Is(t, exchangetest.Fails(t, c, exchangetest.Post(t, t.Context(), "http://a/", "{}"), 0), false, true, false)
			})
		}
		all.Wait()
		if took := time.Since(begun); d.most.Load() != maxDials || took != 4*time.Second {
			t.Errorf("got %d at once, and all in %v", d.most.Load(), took)
		}
	})
}

// Who waits for its turn waits no longer than a connection may take, than its answer may take, or than its caller.
func TestTheLineIsLeftInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &slowDial{err: syscall.ECONNREFUSED}
		c := New(Options{Dial: d.dial, Connect: 500 * time.Millisecond})
		var all sync.WaitGroup
		fails := func(ctx context.Context, wait time.Duration) *exchange.SendError {
			return exchangetest.Fails(t, c, exchangetest.Post(t, ctx, "http://a/", "{}"), wait)
		}
		for range maxDials {
			all.Go(func() { fails(t.Context(), 0) })
		}
		synctest.Wait()
		begun := time.Now()
		exchangetest.Is(t, fails(t.Context(), 0), false, false, true)
		if took := time.Since(begun); took != 500*time.Millisecond {
			t.Errorf("the connection was waited for %v", took)
		}
		failed := fails(t.Context(), 100*time.Millisecond)
		exchangetest.Is(t, failed, false, false, true)
		if !errors.Is(failed, exchange.ErrNotInTime) {
			t.Errorf("got %v", failed)
		}
		why := errors.New("the client left")
		ctx, leave := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { leave(why) })
		failed = fails(ctx, 0)
		exchangetest.Is(t, failed, false, false, false)
		if !errors.Is(failed, why) || time.Since(begun) != 700*time.Millisecond {
			t.Errorf("got %v after %v", failed, time.Since(begun))
		}
		all.Wait()
	})
}

// A connection that comes back is whose turn it is.
func TestAConnectionThatComesBackIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := memnet.Listen("a")
		defer listener.Close()
		go func() {
			conn, _ := listener.Accept()
			buffer := make([]byte, 1<<10)
			for {
				if _, err := conn.Read(buffer); err != nil {
					return
				}
				time.Sleep(time.Second)
				_, _ = conn.Write([]byte(two))
			}
		}()
		dials := atomic.Int64{}
		c := New(Options{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if dials.Add(1) == 1 {
				return listener.Dial(ctx)
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		ctx, end := context.WithCancel(t.Context())
		var all, served sync.WaitGroup
		served.Go(func() { ask(t, c, "http://a/", "GET", "") })
		synctest.Wait()
		for range maxDials {
			all.Go(func() { exchangetest.Fails(t, c, exchangetest.Post(t, ctx, "http://a/", "{}"), 0) })
		}
		synctest.Wait()
		for range 3 {
			served.Go(func() { ask(t, c, "http://a/", "GET", "") })
		}
		served.Wait()
		if dials.Load() != 1+maxDials {
			t.Errorf("got %d connections", dials.Load())
		}
		end()
		all.Wait()
		c.Close()
	})
}

// Upstreams come and go: what is known of those that have gone is forgotten.
func TestUpstreamsAreForgotten(t *testing.T) {
	d := &slowDial{err: syscall.ECONNREFUSED}
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Dial: d.dial})
		for i := range 100 {
			exchangetest.Fails(t, c, exchangetest.Post(t, t.Context(), "http://a"+string(rune('a'+i%26))+string(rune('a'+i/26))+"/", "{}"), 0)
		}
		if n := len(*c.hosts.Load()); n != 1 {
			t.Errorf("%d are known", n)
		}
	})
}
