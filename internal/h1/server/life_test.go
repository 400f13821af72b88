package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/memnet"
	"berth/internal/wire"
)

var silent = serves(func(w wire.Client, r *wire.Request) bool { return true })

// Heads that come slowly are cut off when their time is over, on new connections and on kept ones; connections
// that say nothing, when that of idle ones is.
func TestSlowHeadsAreCutOff(t *testing.T) {
	for name, c := range map[string]struct {
		first string
		drip  string
		idle  time.Duration
		after time.Duration // since the beginning, at most
	}{
		"new":                 {"", "GET /?" + strings.Repeat("a", 18), 180 * time.Second, 5 * time.Second},
		"new, for briefly":    {"", "GET /?" + strings.Repeat("a", 18), time.Second, 5 * time.Second},
		"kept":                {get("/"), "GET /?" + strings.Repeat("a", 18), 180 * time.Second, 5 * time.Second},
		"silent":              {"", "", 180 * time.Second, 181 * time.Second},
		"silent, for briefly": {"", "", 3 * time.Second, 3500 * time.Millisecond},
		"silent after":        {get("/"), "", 180 * time.Second, 181 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := memnet.Listen("berth")
				serveOn(t, Options{Handler: silent, HeaderRead: 5 * time.Second, Idle: c.idle}, l)
				conn, err := l.Dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if c.first != "" {
					io.WriteString(conn, c.first)
					if _, err := conn.Read(make([]byte, 4096)); err != nil {
						t.Fatal(err)
					}
				}
				began, over := time.Now(), make(chan struct{})
				go func() {
					defer close(over)
					io.Copy(io.Discard, conn)
				}()
				dripped := make(chan struct{})
				go func() {
					defer close(dripped)
					for c.drip != "" {
						if _, err := io.WriteString(conn, c.drip); err != nil {
							return
						}
						time.Sleep(3 * time.Second)
					}
				}()
				<-over
				took := time.Since(began)
				<-dripped
				if took < c.after-time.Second || took > c.after {
					t.Errorf("cut off after %v, want %v", took, c.after)
				}
			})
		})
	}
}

// A connection that its client opened for later is served when it is used, and does not keep a server from ending.
func TestAConnectionThatIsOpenedForLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen("berth")
		s := serveOn(t, Options{Handler: silent, HeaderRead: 5 * time.Second, Idle: 180 * time.Second}, l)
		var opened [2]net.Conn
		for i := range opened {
			conn, err := l.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			opened[i] = conn
		}
		time.Sleep(time.Minute)
		io.WriteString(opened[0], get("/"))
		if n, err := opened[0].Read(make([]byte, 4096)); n == 0 {
			t.Errorf("used after a minute: %v", err)
		}
		began := time.Now()
		if err := s.Shutdown(t.Context()); err != nil || time.Since(began) > 0 {
			t.Errorf("shutdown took %v, %v", time.Since(began), err)
		}
	})
}

// The bounds that a handler sets hold, up to an eighth, and for its request alone.
func TestBoundsOfHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen("berth")
		var took time.Duration
		serveOn(t, Options{HeaderRead: 5 * time.Second, Idle: 180 * time.Second, Handler: serves(func(w wire.Client, r *wire.Request) bool {
			began := time.Now()
			if r.URL.Path == "/bounded" {
				w.SetReadDeadline(began.Add(time.Minute))
			}
			_, err := io.ReadAll(r.Body)
			took = time.Since(began)
			return err == nil
		})}, l)
		conn, _ := l.Dial(t.Context())
		defer conn.Close()
		go io.Copy(io.Discard, conn)
		io.WriteString(conn, post("/free", "Content-Length: 2\r\n", "h"))
		time.Sleep(time.Hour)
		io.WriteString(conn, "i")
		synctest.Wait()
		if took != time.Hour {
			t.Errorf("without a bound: took %v", took)
		}
		io.WriteString(conn, post("/bounded", "Content-Length: 2\r\n", "h"))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if took < time.Minute || took > 61*time.Second {
			t.Errorf("with one: took %v", took)
		}
	})
}

// A client that took nothing for too long finds its connection closed when it comes back, however long its handler goes on.
func TestAClientThatComesBackLateFindsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen("berth")
		serveOn(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
			w.SetWriteDeadline(time.Now().Add(30 * time.Second))
			w.Write([]byte("x"))
			w.Flush()
			time.Sleep(time.Hour)
			return false
		})}, l)
		conn, _ := l.Dial(t.Context())
		defer conn.Close()
		began := time.Now()
		io.WriteString(conn, get("/"))
		time.Sleep(40 * time.Second)
		if b, err := io.ReadAll(conn); time.Since(began) > time.Minute {
			t.Errorf("got %q, %v after %v", b, err, time.Since(began))
		}
		time.Sleep(2 * time.Hour)
	})
}

// An answer that its end alone bounds is broken off by a reset: else a part of it were all of it.
func TestAnAnswerUntilTheEndIsBrokenOffByAReset(t *testing.T) {
	for whole, want := range map[bool]error{true: nil, false: syscall.ECONNRESET} {
		_, addr := listen(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
			w.Write([]byte("half"))
			w.Flush()
			<-time.After(10 * time.Millisecond)
			return whole
		})})
		conn := dial(t, addr)
		io.WriteString(conn, "GET / HTTP/1.0\r\nHost: a\r\n\r\n")
		if b, err := io.ReadAll(conn); !errors.Is(err, want) {
			t.Errorf("whole %v: got %q, %v", whole, b, err)
		}
	}
}

// A client that takes nothing ends the answer.
func TestAClientThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen("berth")
		failed := make(chan time.Duration, 1)
		serveOn(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
			began := time.Now()
			w.SetWriteDeadline(began.Add(30 * time.Second))
			w.Write([]byte("x"))
			if w.Flush() != nil && r.Context().Err() != nil {
				failed <- time.Since(began)
			}
			return false
		})}, l)
		conn, _ := l.Dial(t.Context())
		defer conn.Close()
		io.WriteString(conn, get("/"))
		if took := <-failed; took < 30*time.Second || took > 31*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestShutdownClosesIdleOnesAndAwaitsOthers(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	s, addr := listen(t, Options{HeaderRead: time.Minute, Handler: serves(func(w wire.Client, r *wire.Request) bool {
		if r.URL.Path == "/wait" {
			close(begun)
			<-goOn
		}
		return true
	})})
	kept, busy := dial(t, addr), dial(t, addr)
	io.WriteString(kept, get("/"))
	kept.Read(make([]byte, 4096))
	io.WriteString(busy, get("/wait"))
	await(t, "the request", begun)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- s.Shutdown(ctx) }()
	if _, err := kept.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("kept: %v", err)
	}
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("got %v", err)
	}
	go func() { done <- s.Shutdown(t.Context()) }()
	close(goOn)
	if b, err := io.ReadAll(busy); err != nil || !strings.Contains(string(b), "Connection: close\r\n") {
		t.Errorf("got %q, %v", b, err)
	}
	if err := <-done; err != nil {
		t.Errorf("got %v", err)
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("still listening")
	}
}

func TestCloseEndsRequests(t *testing.T) {
	begun, over := make(chan struct{}), make(chan struct{})
	s, addr := listen(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
		close(begun)
		<-r.Context().Done()
		close(over)
		return true
	})})
	c := dial(t, addr)
	io.WriteString(c, get("/"))
	await(t, "the request", begun)
	s.Close()
	await(t, "the end", over)
	if got := statuses(c); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestAPanicEndsItsConnectionAlone(t *testing.T) {
	_, addr := listen(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
		if r.URL.Path == "/panic" {
			w.Write([]byte("x"))
			panic("a test")
		}
		return true
	})})
	other, c := dial(t, addr), dial(t, addr)
	io.WriteString(c, get("/panic"))
	if got := statuses(c); got != "" {
		t.Errorf("got %q", got)
	}
	io.WriteString(other, get("/"))
	other.CloseWrite()
	if got := statuses(other); got != "200" {
		t.Errorf("another: got %q", got)
	}
}

// An answer that is given before all of the request was read reaches a client that still sends.
func TestAnEarlyAnswerReachesItsClient(t *testing.T) {
	_, addr := listen(t, Options{HeaderRead: time.Minute, Handler: serves(func(w wire.Client, r *wire.Request) bool { w.WriteHeader(413); return true })})
	for _, fields := range []string{"Content-Length: 100000000\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 1000000\r\nTransfer-Encoding: chunked\r\n"} {
		c := dial(t, addr)
		io.WriteString(c, post("/", fields, ""))
		for range 30 {
			if _, err := io.WriteString(c, "f000\r\n"+strings.Repeat("x", 0xf000)+"\r\n"); err != nil {
				t.Errorf("%q: sending: %v", fields, err)
				break
			}
		}
		if got := statuses(c); got != "413" && got != "400" {
			t.Errorf("%q: got %q", fields, got)
		}
	}
}

// One that goes on sending for longer than it takes to read an answer is not cut off before it has read it; one that never ends is.
func TestAnEarlyAnswerReachesASlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newHandoff()
		s := New(Options{HeaderRead: time.Minute, Handler: serves(func(w wire.Client, r *wire.Request) bool { w.WriteHeader(413); return true })})
		go s.Serve(l)
		near, far := net.Pipe()
		l.conns <- far
		var got string
		read := make(chan struct{})
		go func() { got = statuses(near); close(read) }()
		io.WriteString(near, post("/", "Content-Length: 100000000\r\n", ""))
		piece, began, end := bytes.Repeat([]byte("x"), 64<<10), time.Now(), error(nil)
		for range 1000 {
			if _, end = near.Write(piece); end != nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if lasted := time.Since(began); end == nil || lasted < 5*time.Second || lasted > 15*time.Second {
			t.Errorf("it could send for %v, then %v", lasted, end)
		}
		<-read
		if got != "413" {
			t.Errorf("got %q", got)
		}
		s.Close()
		<-s.whenEmpty()
	})
}

// Connections that break at any byte leave nothing behind.
func TestResetsLeaveNothingBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	s, addr := listen(t, Options{HeaderRead: time.Minute, Idle: time.Minute, Handler: serves(func(w wire.Client, r *wire.Request) bool {
		stop := context.AfterFunc(r.Context(), func() {})
		defer stop()
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return false
		}
		w.Write([]byte("one"))
		return w.Flush() == nil
	})})
	raw := post("/", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n") + post("/", "Expect: 100-continue\r\nContent-Length: 2\r\n", "hi")
	for end := range len(raw) + 1 {
		for _, reset := range []bool{false, true} {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(c, raw[:end])
			if reset {
				c.(*net.TCPConn).SetLinger(0)
			}
			c.Close()
		}
	}
	await(t, "the end of connections", s.whenEmpty())
	s.Close()
	for range 1000 {
		if runtime.NumGoroutine() <= before+2 {
			return
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// temporary fails once, for a while.
type temporary struct {
	net.Listener
	failed bool
}

type tooMany struct{ error }

func (tooMany) Temporary() bool { return true }

func (l *temporary) Accept() (net.Conn, error) {
	if !l.failed {
		l.failed = true
		return nil, tooMany{io.ErrNoProgress}
	}
	return l.Listener.Accept()
}

func TestAcceptingGoesOnAfterATemporaryError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, Options{Handler: silent}, &temporary{Listener: l})
	c := dial(t, l.Addr().String())
	io.WriteString(c, get("/"))
	c.CloseWrite()
	if got := statuses(c); got != "200" {
		t.Errorf("got %q", got)
	}
}
