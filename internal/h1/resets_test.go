package h1_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/realtest"
	"berth/internal/wire"
)

// leavesNothing fails the test if goroutines are left once it and what it cleans up are over.
func leavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		realtest.Eventually(t, "goroutines back at the baseline", func() bool { return runtime.NumGoroutine() <= before })
	})
}

// ends are the ways in which a peer may end a connection.
var ends = map[string]func(*net.TCPConn){
	"FIN":  func(c *net.TCPConn) { c.Close() },
	"RST":  func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
	"half": func(c *net.TCPConn) { c.CloseWrite(); io.Copy(io.Discard, c); c.Close() },
}

// counted is a handler that counts the requests under way.
type counted struct {
	recorder
	running atomic.Int64
}

func (c *counted) Serve(w wire.Client, r *wire.Request) bool {
	c.running.Add(1)
	defer c.running.Add(-1)
	return c.recorder.Serve(w, r)
}

// Clients that go at any byte of their requests, in any way, leave nothing behind, and no handler waits for them.
func TestClientsThatGoAtAnyByte(t *testing.T) {
	leavesNothing(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := new(counted)
	stop := ours.serve(listener, h)
	t.Cleanup(stop)
	raw := get + post("Content-Length: 5\n", "hello") + post(chunked, "3\r\nabc\r\n2;x\r\nde\r\n0\r\nX: 1\r\n\r\n")
	var going sync.WaitGroup
	defer going.Wait()
	for name, end := range ends {
		for n := 0; n <= len(raw); n++ {
			c, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatalf("%s at %d: %v", name, n, err)
			}
			c.SetDeadline(time.Now().Add(realtest.Within))
			io.WriteString(c, raw[:n])
			if name == "half" {
				going.Go(func() { end(c.(*net.TCPConn)) })
				continue
			}
			end(c.(*net.TCPConn))
		}
	}
	going.Wait()
	realtest.Eventually(t, "no handler runs", func() bool { return h.running.Load() == 0 })
	c, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(realtest.Within))
	io.WriteString(c, get)
	if _, err := io.ReadFull(c, make([]byte, len("HTTP/1.1 200"))); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// waiting is a handler that answers when its client has gone.
type waiting struct {
	asked atomic.Int64
	gone  atomic.Int64
	body  bool // it reads the body before
}

func (h *waiting) Serve(w wire.Client, r *wire.Request) bool {
	if h.body {
		io.Copy(io.Discard, r.Body)
	}
	h.asked.Add(1)
	select {
	case <-r.Context().Done():
		h.gone.Add(1)
	case <-time.After(realtest.Within):
	}
	return false
}

// A client's departure ends its request's context while a handler waits for another, however the client goes.
func TestDepartureEndsTheContext(t *testing.T) {
	leavesNothing(t)
	for name, raw := range map[string]string{
		"GET":    get,
		"length": post("Content-Length: 5\n", "hello"),
		"chunks": post(chunked, "5\r\nhello\r\n0\r\n\r\n"),
	} {
		for how, end := range ends {
			if how == "half" {
				continue // it may wait for the answer
			}
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			h := &waiting{body: true}
			stop := ours.serve(listener, h)
			c, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(c, raw)
			realtest.Eventually(t, name+" asked", func() bool { return h.asked.Load() == 1 })
			end(c.(*net.TCPConn))
			realtest.Eventually(t, name+" gone by "+how, func() bool { return h.gone.Load() == 1 })
			stop()
		}
	}
}

// Upstreams that go at any byte of their answers leave nothing behind, and no answer that was cut is whole.
func TestUpstreamsThatGoAtAnyByte(t *testing.T) {
	leavesNothing(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	t.Cleanup(func() { listener.Close() })
	answers := []string{
		ok + "Content-Length: 5\r\n\r\nhello",
		"HTTP/1.1 100 Continue\r\n\r\n" + ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nX: 1\r\n\r\n",
	}
	var say atomic.Value // func(net.Conn)
	serving.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				if !readRequest(c) {
					c.Close()
					return
				}
				say.Load().(func(*net.TCPConn))(c.(*net.TCPConn))
			})
		}
	})
	sender := mine.over(func(ctx context.Context, network, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	})
	t.Cleanup(sender.Close)
	target, _ := url.Parse("http://" + listener.Addr().String() + "/mcp")
	for how, end := range ends {
		for _, answer := range answers {
			for n := range len(answer) {
				say.Store(func(c *net.TCPConn) { io.WriteString(c, answer[:n]); end(c) })
				e := sendOne(t, sender, &exchange.Request{Method: "POST", URL: target, Header: new(wire.Header), Body: []byte("{}")})
				if e.failure == "" && e.whole || e.failure != "" && e.failure != errBroken {
					t.Errorf("%s at %d of %q: got %v", how, n, answer, e)
				}
			}
		}
	}
}
