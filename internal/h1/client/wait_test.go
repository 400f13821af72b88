package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/h1/buffer"
	"berth/internal/realtest"
	"berth/internal/wire"
)

// waiting is a stream of an upstream that says what says is sent, and its end when the test has its own.
func waiting(t *testing.T) (body io.ReadCloser, says chan<- string) {
	t.Helper()
	body, says = waitingIn(t.Context(), t)
	t.Cleanup(func() { close(says) })
	return body, says
}

// waitingIn is one whose end is said when says is closed.

func waitingIn(ctx context.Context, t *testing.T) (body io.ReadCloser, says chan<- string) {
	t.Helper()
	said := make(chan string)
	upstream := exchangetest.NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for text := range said {
			if _, err := io.WriteString(conn, text); err != nil {
				return false
			}
		}
		return false
	})
	c, _ := counting(t)
	u, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Send(ctx, &exchange.Request{Method: wire.MethodGet, URL: u, Header: new(wire.Header)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response.Body, said
}

// begin waits for a body in a goroutine of its own.
func begin(body io.ReadCloser) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		body.(wire.Waiter).Wait()
	}()
	return done
}

func awaitEnd(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it waits on")
	}
}

// await has a body awaited, as a lookout does it.
func await(t *testing.T, body io.ReadCloser) <-chan struct{} {
	t.Helper()
	done := make(chan struct{})
	if !body.(wire.Waiter).Await(func() { close(done) }) {
		t.Fatal("it cannot be awaited")
	}
	return done
}

// Who waits for a body wakes by what comes, by its end, and by its being closed.
func TestBodyIsWaitedFor(t *testing.T) {
	body, says := waiting(t)
	done := begin(body)
	says <- "3\r\nabc\r\n"
	awaitEnd(t, done)
	var b [16]byte
	if n, err := body.Read(b[:]); string(b[:n]) != "abc" || err != nil {
		t.Fatalf("read %q, %v", b[:n], err)
	}
	done = begin(body)
	says <- "0\r\n\r\n"
	awaitEnd(t, done)
	if n, err := body.Read(b[:]); n != 0 || err != io.EOF {
		t.Fatalf("read %d, %v, want the end", n, err)
	}
	awaitEnd(t, begin(body)) // of what has ended
}

func TestWhoWaitsForABodyWakesWhenItIsClosed(t *testing.T) {
	body, _ := waiting(t)
	done := begin(body)
	if err := body.Close(); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, done)
	awaitEnd(t, begin(body))
}

// Who awaits a body hears of what comes, of what had come before, and of its end.
func TestBodyIsAwaited(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no lookout here")
	}
	body, says := waiting(t)
	var b [16]byte
	for _, text := range []string{"abc", "def"} {
		done := await(t, body)
		says <- "3\r\n" + text + "\r\n"
		awaitEnd(t, done)
		if n, err := body.Read(b[:]); string(b[:n]) != text || err != nil {
			t.Fatalf("read %q, %v, want %q", b[:n], err, text)
		}
	}
	says <- "0\r\n\r\n"
	done := make(chan struct{})
	if body.(wire.Waiter).Await(func() { close(done) }) { // else it has come by now
		awaitEnd(t, done)
	}
	if n, err := body.Read(b[:]); n != 0 || err != io.EOF {
		t.Fatalf("read %d, %v, want the end", n, err)
	}
	if body.(wire.Waiter).Await(func() { t.Error("it has ended, and is awaited") }) {
		t.Error("what has ended is awaited")
	}
}

// A stream that is awaited again and again loses nothing, whatever comes together, in pieces, or while it is read: from the second
// time on nobody tells the kernel.
func TestWhatIsAwaitedOverAndOverLosesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no lookout here")
	}
	const events, size = 2000, 500
	conn, body := standing(t)
	go func() {
		chunk := fmt.Appendf(nil, "%x\r\n%s\r\n", size, strings.Repeat("x", size))
		all := bytes.Repeat(chunk, events)
		for n := 1; len(all) > 0; n = n*7%9973 + 1 { // of any length, below and above what is read at once
			n = min(n, len(all))
			if _, err := conn.Write(all[:n]); err != nil {
				return
			}
			all = all[n:]
		}
		_, _ = io.WriteString(conn, "0\r\n\r\n")
		_ = conn.Close()
	}()
	got, over := 0, make(chan error, 1)
	p := make([]byte, buffer.Size)
	var next func()
	next = func() {
		n, err := body.Read(p)
		if got += n; err != nil {
			over <- err
			return
		}
		if !body.(wire.Waiter).Await(next) {
			go func() {
				body.(wire.Waiter).Wait()
				next()
			}()
		}
	}
	go next()
	select {
	case err := <-over:
		if err != io.EOF || got != events*size {
			t.Errorf("got %d bytes, %v, want %d", got, err, events*size)
		}
	case <-time.After(time.Minute):
		t.Fatalf("it waits on, after %d bytes of %d", got, events*size)
	}
}

// The kernel is told that a connection is to be seen while nobody can be woken: who is, and awaits what comes next, tells it otherwise.
func TestTheKernelIsToldBeforeAnybodyIsWoken(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no lookout here")
	}
	conn, body := standing(t)
	a, told := body.(*answer), 0
	raw := a.conn.net.raw
	a.conn.net.raw = tellsOf{raw, func() {
		if told++; a.state.Load() != reading {
			t.Errorf("told when its state was %d", a.state.Load())
		}
	}}
	alwaysSeen(t, conn, body)
	if told < 2 {
		t.Errorf("told %d times", told)
	}
	a.conn.net.raw = raw
}

// tellsOf tells of what the kernel is told.
type tellsOf struct {
	syscall.RawConn
	tell func()
}

func (r tellsOf) Control(f func(fd uintptr)) error {
	r.tell()
	return r.RawConn.Control(f)
}

// A connection whose answer was awaited over and over serves others, of which the lookout hears nothing.
func TestALookoutLooksAwayFromAnAnswerThatIsOver(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no lookout here")
	}
	conn, body := standing(t)
	c := alwaysSeen(t, conn, body)
	_, _ = io.WriteString(conn, "0\r\n\r\n")
	realtest.Eventually(t, "the end is seen", c.missed.Load)
	if _, err := io.ReadAll(body); err != nil {
		t.Fatal(err)
	}
	_ = body.Close()
	if c.missed.Load() || c.sight != unseen {
		t.Error("something is left of the answer")
	}
	_, _ = io.WriteString(conn, "x") // which nobody has asked for
	other, otherBody := standing(t)
	done := await(t, otherBody)
	_, _ = io.WriteString(other, "1\r\nx\r\n")
	awaitEnd(t, done)
	if c.missed.Load() {
		t.Error("it is seen, though the answer is over")
	}
}

// What comes, and the end, while nobody awaits the answer is not waited for.
func TestWhatWasMissedIsNotWaitedFor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no lookout here")
	}
	conn, body := standing(t)
	c := alwaysSeen(t, conn, body)
	waits := func() bool { return body.(wire.Waiter).Await(func() {}) }
	say := func() {
		_, _ = io.WriteString(conn, "1\r\nx\r\n")
		realtest.Eventually(t, "it is seen", c.missed.Load)
	}
	take := func() {
		if n, err := body.Read(make([]byte, 8)); n != 1 || err != nil {
			t.Fatalf("read %d, %v", n, err)
		}
	}
	if say(); waits() {
		t.Fatal("what was missed is waited for")
	}
	take()
	say()
	take()
	done := await(t, body) // though it was missed, it was taken
	_, _ = io.WriteString(conn, "1\r\nx\r\n")
	awaitEnd(t, done)
	_ = conn.Close()
	realtest.Eventually(t, "the end is seen", c.sighting.HasLeft)
	c.missed.Store(false) // as if it had come with the chunk
	take()
	if waits() {
		t.Error("the end was missed, and is waited for")
	}
}

// alwaysSeen awaits an answer until that is always seen.
func alwaysSeen(t *testing.T, upstream net.Conn, body io.ReadCloser) *conn {
	t.Helper()
	c := body.(*answer).conn
	for range 3 {
		done := await(t, body)
		_, _ = io.WriteString(upstream, "1\r\nx\r\n")
		awaitEnd(t, done)
		if n, err := body.Read(make([]byte, 8)); n != 1 || err != nil {
			t.Fatalf("read %d, %v", n, err)
		}
	}
	if c.sight != seenAlways {
		t.Fatal("it is not always seen")
	}
	return c
}

// standing is a stream's body, and the connection on which its upstream speaks, which keeps it open.
func standing(t *testing.T) (upstream net.Conn, body io.ReadCloser) {
	t.Helper()
	came, let := make(chan net.Conn, 1), make(chan struct{})
	server := exchangetest.NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		came <- conn
		<-let
		return false
	})
	t.Cleanup(func() { close(let) }) // before the server ends
	c, _ := counting(t)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Send(t.Context(), &exchange.Request{Method: wire.MethodGet, URL: u, Header: new(wire.Header)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return <-came, response.Body
}

// Who awaits a body hears once that it was closed, and that its upstream or the context is gone.
func TestWhoAwaitsABodyHearsOfItsEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no lookout here")
	}
	for name, end := range map[string]func(body io.ReadCloser, leave, cancel func()){
		"closed":                func(body io.ReadCloser, _, _ func()) { _ = body.Close() },
		"broken off":            func(_ io.ReadCloser, leave, _ func()) { leave() },
		"the context has ended": func(_ io.ReadCloser, _, cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			body, says := waitingIn(ctx, t)
			leave := sync.OnceFunc(func() { close(says) })
			t.Cleanup(leave)
			done := await(t, body)
			end(body, leave, cancel)
			awaitEnd(t, done)
			if n, err := body.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("read %d, %v, want an error", n, err)
			}
		})
	}
}
