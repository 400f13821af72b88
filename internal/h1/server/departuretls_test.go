package server

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"berth/internal/wire"
)

// corked is a connection that sends nothing until it is let.
type corked struct {
	net.Conn
	held []byte
	cork bool
}

func (c *corked) Write(b []byte) (int, error) {
	if !c.cork {
		return c.Conn.Write(b)
	}
	c.held = append(c.held, b...)
	return len(b), nil
}

// securely connects to addr over TLS.
func securely(t *testing.T, addr string, config *tls.Config) (*tls.Conn, *corked) {
	t.Helper()
	beneath := &corked{Conn: dial(t, addr)}
	c := tls.Client(beneath, config)
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	return c, beneath
}

// leavingTLS are the ways of a client to go, with the connection beneath.
var leavingTLS = map[string]func(*tls.Conn, *net.TCPConn){
	"closes":                 func(c *tls.Conn, _ *net.TCPConn) { c.Close() },
	"closes beneath":         func(_ *tls.Conn, beneath *net.TCPConn) { beneath.Close() },
	"resets":                 func(_ *tls.Conn, beneath *net.TCPConn) { beneath.SetLinger(0); beneath.Close() },
	"half beneath":           func(_ *tls.Conn, beneath *net.TCPConn) { beneath.CloseWrite() },
	"takes leave, and stays": func(c *tls.Conn, _ *net.TCPConn) { c.CloseWrite() },
}

// waits is a handler that answers /wait once its client has left, and all else at once after asking for its departure.
func waits(t *testing.T, begun, left chan struct{}) Handler {
	return serves(func(w wire.Client, r *wire.Request) bool {
		io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/wait" {
			close(begun)
			<-r.Context().Done()
			close(left)
			return true
		}
		asks(t, r.Context())
		return true
	})
}

// asks asks for the departure of a client that stays, for a moment.
func asks(t *testing.T, ctx context.Context) {
	done := ctx.Done()
	if w := ctx.(*departure).asked.watch; runtime.GOOS == "linux" && w.state.Load() == reading {
		t.Error("a goroutine watches a client that says nothing")
	}
	select {
	case <-done:
		t.Error("left")
	case <-time.After(time.Millisecond):
	}
}

func TestADepartureOverTLSIsSeenAtOnce(t *testing.T) {
	for way, leave := range leavingTLS {
		for name, before := range map[string]int{"first": 0, "after others": 3} {
			t.Run(way+"/"+name, func(t *testing.T) {
				begun, left := make(chan struct{}), make(chan struct{})
				addr, config := secured(t, Options{HeaderRead: time.Minute, Idle: time.Minute, Handler: waits(t, begun, left)})
				c, beneath := securely(t, addr, config)
				for range before {
					io.WriteString(c, get("/"))
					readAnswer(t, c)
				}
				io.WriteString(c, get("/wait"))
				await(t, "the request", begun)
				leave(c, beneath.Conn.(*net.TCPConn))
				await(t, "the departure", left)
			})
		}
	}
}

// Behind what a client says while it waits, the end of its connection is seen.
func TestADepartureBehindMoreIsSeen(t *testing.T) {
	for way, leave := range leavingTLS {
		for name, together := range map[string]bool{"in one piece with the request": true, "later": false} {
			if way == "takes leave, and stays" {
				continue // which stands behind what is not read
			}
			t.Run(way+"/"+name, func(t *testing.T) {
				begun, left := make(chan struct{}), make(chan struct{})
				addr, config := secured(t, Options{HeaderRead: time.Minute, Idle: time.Minute, Handler: waits(t, begun, left)})
				c, beneath := securely(t, addr, config)
				if beneath.cork = together; together {
					io.WriteString(c, get("/wait"))
					io.WriteString(c, "G")
					beneath.cork = false
					beneath.Conn.Write(beneath.held)
				} else {
					io.WriteString(c, get("/wait"))
				}
				await(t, "the request", begun)
				if !together {
					io.WriteString(c, "G")
				}
				leave(c, beneath.Conn.(*net.TCPConn))
				await(t, "the departure", left)
			})
		}
	}
}

// What a client says behind its request, in one piece with it, is read by TLS before anybody watches.
func TestADepartureThatCameWithTheRequestIsSeen(t *testing.T) {
	begun, left := make(chan struct{}), make(chan struct{})
	addr, config := secured(t, Options{HeaderRead: time.Minute, Idle: time.Minute, Handler: waits(t, begun, left)})
	c, beneath := securely(t, addr, config)
	beneath.cork = true
	io.WriteString(c, get("/wait"))
	c.CloseWrite()
	beneath.SetWriteDeadline(time.Time{}) // which a leave ends
	if _, err := beneath.Conn.Write(beneath.held); err != nil {
		t.Fatal(err)
	}
	await(t, "the request", begun)
	await(t, "the departure", left)
}

// readAnswer reads an answer without a body.
func readAnswer(t *testing.T, r io.Reader) {
	t.Helper()
	for last := ""; len(last) < 4 || last[len(last)-4:] != "\r\n\r\n"; {
		var one [1]byte
		if _, err := io.ReadFull(r, one[:]); err != nil {
			t.Fatal(err)
		}
		last += string(one[:])
	}
}
