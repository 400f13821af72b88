package server

import (
	"context"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"berth/internal/wire"
)

// leaving are the ways of a client to go.
var leaving = map[string]func(*net.TCPConn){
	"closes":     func(c *net.TCPConn) { c.Close() },
	"resets":     func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
	"half":       func(c *net.TCPConn) { c.CloseWrite() },
	"said more":  func(c *net.TCPConn) { io.WriteString(c, get("/")); c.Close() },
	"and resets": func(c *net.TCPConn) { io.WriteString(c, get("/")); c.SetLinger(0); c.Close() },
}

// asking are the ways to hear of it.
var asking = map[string]func(ctx context.Context, told chan struct{}){
	"Done": func(ctx context.Context, told chan struct{}) {
		<-ctx.Done()
		close(told)
	},
	"AfterFunc": func(ctx context.Context, told chan struct{}) {
		context.AfterFunc(ctx, func() { close(told) })
		<-told
	},
	"OnEnd": func(ctx context.Context, told chan struct{}) {
		ctx.(wire.Ending).OnEnd(func() { close(told) })
		<-told
	},
	"child": func(ctx context.Context, told chan struct{}) {
		child, cancel := context.WithTimeout(ctx, time.Hour)
		defer cancel()
		<-child.Done()
		if context.Cause(child) == context.Canceled {
			close(told)
		}
	},
}

func TestAClientsDepartureIsSeenAtOnce(t *testing.T) {
	for way, leave := range leaving {
		for how, ask := range asking {
			for _, body := range []string{"", "Content-Length: 2\r\n", "Transfer-Encoding: chunked\r\n"} {
				t.Run(way+"/"+how+"/"+body, func(t *testing.T) {
					begun, told := make(chan struct{}), make(chan struct{})
					_, addr := listen(t, Options{HeaderRead: time.Minute, Idle: time.Minute, Handler: serves(func(w wire.Client, r *wire.Request) bool {
						if r.URL.Path != "/wait" {
							return true
						}
						io.Copy(io.Discard, r.Body)
						close(begun)
						ask(r.Context(), told)
						if err := r.Context().Err(); err != context.Canceled {
							t.Errorf("Err: %v", err)
						}
						return true
					})})
					c := dial(t, addr)
					io.WriteString(c, post("/wait", body, map[string]string{"": "", "Content-Length: 2\r\n": "hi", "Transfer-Encoding: chunked\r\n": "2\r\nhi\r\n0\r\n\r\n"}[body]))
					await(t, "the request", begun)
					leave(c)
					await(t, "the departure", told)
				})
			}
		}
	}
}

// A watch that has begun ends before the next request is read, and takes nothing of it.
func TestAWatchLeavesTheNextRequestsAlone(t *testing.T) {
	_, addr := listen(t, Options{HeaderRead: time.Minute, Idle: time.Minute, Handler: serves(func(w wire.Client, r *wire.Request) bool {
		select {
		case <-r.Context().Done():
			t.Error("left")
		case <-time.After(time.Millisecond):
		}
		if w := r.Context().(*departure).asked.watch; runtime.GOOS == "linux" && w != nil {
			t.Error("a goroutine watches")
		}
		b, err := io.ReadAll(r.Body)
		w.Write(b)
		return err == nil
	})})
	c := dial(t, addr)
	for range 20 {
		io.WriteString(c, get("/")+post("/", "Content-Length: 2\r\n", "hi"))
		io.WriteString(c, get("/"))
		p := make([]byte, 4096)
		for n := 0; n < len("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nDate: Mon, 02 Jan 2006 15:04:05 GMT\r\n\r\n")*3+2; {
			m, err := c.Read(p)
			if n += m; err != nil {
				t.Fatal(err)
			}
		}
	}
	c.CloseWrite()
	if got := statuses(c); got != "" {
		t.Errorf("got %q", got)
	}
}

// A client that left before anybody asked has left, on connections that were watched before as on others.
func TestADepartureBeforeItIsAskedFor(t *testing.T) {
	for _, watched := range []bool{false, true} {
		begun, left, told := make(chan struct{}), make(chan struct{}), make(chan struct{})
		_, addr := listen(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
			if r.URL.Path == "/" {
				if watched {
					r.Context().Done()
				}
				return true
			}
			close(begun)
			<-left
			time.Sleep(20 * time.Millisecond) // what the kernel tells is heard by then
			<-r.Context().Done()
			close(told)
			return true
		})})
		c := dial(t, addr)
		io.WriteString(c, get("/")+get("/wait"))
		await(t, "the request", begun)
		c.Close()
		close(left)
		await(t, "the departure", told)
	}
}

// A context ends with its request, and never with another.
func TestAContextEndsWithItsRequest(t *testing.T) {
	var kept []context.Context
	_, addr := listen(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
		for _, before := range kept {
			if before.Err() != context.Canceled || before == r.Context() {
				t.Error("a context goes on after its request")
			}
			select {
			case <-before.Done():
			default:
				t.Error("Done is open after its request")
			}
		}
		if kept = append(kept, r.Context()); r.Context().Err() != nil || r.Context().Value(0) != nil {
			t.Error("a context has ended before its request")
		}
		return true
	})})
	c := dial(t, addr)
	for range 3 * batch {
		io.WriteString(c, get("/"))
	}
	c.CloseWrite()
	io.Copy(io.Discard, c)
	if len(kept) != 3*batch {
		t.Errorf("got %d requests", len(kept))
	}
}

// What was stopped does not run; what was not runs once.
func TestAfterFuncCanBeStopped(t *testing.T) {
	ran, stopped := make(chan string, 9), make(chan struct{})
	var late func() bool
	_, addr := listen(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
		stop := context.AfterFunc(r.Context(), func() { ran <- "stopped" })
		late = context.AfterFunc(r.Context(), func() { ran <- "not" })
		if !stop() || stop() {
			t.Error("stop: want true, then false")
		}
		close(stopped)
		return true
	})})
	c := dial(t, addr)
	io.WriteString(c, get("/"))
	<-stopped // an end that came before would run both
	c.CloseWrite()
	io.Copy(io.Discard, c)
	if got := <-ran; got != "not" || len(ran) > 0 || late() {
		t.Errorf("ran %q", got)
	}
}

// Who writes to a client that has gone hears of it, and so does who waits.
func TestWritingToWhoHasGoneFails(t *testing.T) {
	failed := make(chan struct{})
	_, addr := listen(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
		for {
			w.Write([]byte("event"))
			if w.Flush() != nil {
				break
			}
		}
		if _, err := w.Write([]byte("more")); err == nil || r.Context().Err() == nil {
			t.Errorf("got %v, %v", err, r.Context().Err())
		}
		close(failed)
		return true
	})})
	c := dial(t, addr)
	io.WriteString(c, get("/"))
	c.Read(make([]byte, 1))
	c.SetLinger(0)
	c.Close()
	await(t, "the failure", failed)
}
