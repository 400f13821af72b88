package client

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange/exchangetest"
	"berth/internal/memnet"
	"berth/internal/wire"
)

const two = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

// A connection is kept when its answer has an end of its own, which was read, and nobody ends the connection.
func TestWhichConnectionsAreKept(t *testing.T) {
	for _, c := range []struct {
		method, text string
		kept         bool
	}{
		{"POST", two, true},
		{"POST", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", true},
		{"POST", "HTTP/1.1 204 No Content\r\n\r\n", true},
		{"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", true},
		{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", true},
		{"POST", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}", true},
		{"POST", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", false},
		{"POST", "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\n{}", false},
		{"POST", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", false},
		{"POST", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", false},
		{"POST", two + "x", false}, // nobody has asked for that
		{"POST", two + two, false},
		{"HEAD", two, false},
	} {
		u := saying(t, c.text, true)
		client, dials := counting(t)
		for range 3 {
			ask(t, client, u.URL, c.method, "{}")
		}
		if want := map[bool]int64{true: 1, false: 3}[c.kept]; dials.Load() != want {
			t.Errorf("%s %q: got %d connections, want %d", c.method, c.text, dials.Load(), want)
		}
	}
}

// A kept connection that the server has closed has taken nothing: another one is made before anything is sent.
func TestAKeptConnectionThatWasClosedIsNotUsed(t *testing.T) {
	for name, end := range map[string]func(*net.TCPConn){
		"FIN":    func(conn *net.TCPConn) { _ = conn.Close() },
		"RST":    func(conn *net.TCPConn) { _ = conn.SetLinger(0); _ = conn.Close() },
		"half":   func(conn *net.TCPConn) { _ = conn.CloseWrite() },
		"a byte": func(conn *net.TCPConn) { _, _ = io.WriteString(conn, "x") },
		"answered": func(conn *net.TCPConn) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
		},
	} {
		t.Run(name, func(t *testing.T) {
			conns := make(chan *net.TCPConn, 9)
			u := exchangetest.NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool {
				conns <- conn
				return exchangetest.Polite(conn)
			})
			client, dials := counting(t)
			for i := range int64(3) {
				if _, body := ask(t, client, u.URL, "POST", "{}"); body != "{}" || dials.Load() != i+1 {
					t.Errorf("got %q over %d connections", body, dials.Load())
				}
				end(<-conns)
				client.age()
			}
		})
	}
}

// The one that was used last is used first, so that the others can go.
func TestTheLastConnectionIsUsedFirst(t *testing.T) {
	var mu sync.Mutex
	var both sync.WaitGroup
	both.Add(2)
	seen := map[string]int{}
	u := exchangetest.NewRude(t, func(n int64, conn *net.TCPConn, _ *http.Request) bool {
		if n <= 2 {
			both.Done()
			both.Wait() // for two connections
		}
		mu.Lock()
		seen[conn.RemoteAddr().String()]++
		mu.Unlock()
		return exchangetest.Polite(conn)
	})
	client, dials := counting(t)
	var two sync.WaitGroup
	for range 2 {
		two.Go(func() { ask(t, client, u.URL, "POST", "{}") })
	}
	two.Wait()
	for range 5 {
		ask(t, client, u.URL, "POST", "{}")
	}
	mu.Lock()
	defer mu.Unlock()
	for _, n := range seen {
		if dials.Load() != 2 || n != 1 && n != 6 {
			t.Errorf("got %v over %d connections", seen, dials.Load())
		}
	}
}

func TestIdleConnectionsAreClosedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := memnet.Listen("a")
		var ended time.Time
		go func() {
			conn, _ := listener.Accept()
			buffer := make([]byte, 1<<10)
			for {
				if _, err := conn.Read(buffer); err != nil {
					ended = time.Now()
					return
				}
				_, _ = io.WriteString(conn, two)
			}
		}()
		c := New(Options{Dial: memnet.Dialer(listener)})
		ask(t, c, "http://a/", wire.MethodGet, "")
		time.Sleep(3 * time.Second)
		ask(t, c, "http://a/", wire.MethodGet, "")
		last := time.Now()
		time.Sleep(time.Minute)
		synctest.Wait()
		if rested := ended.Sub(last); rested != idleTime {
			t.Errorf("it rested for %v, want %v", rested, idleTime)
		}
	})
}

// A caller may close an answer twice, and late: somebody else may have its connection by then.
func TestClosingAgainClosesNothingElse(t *testing.T) {
	u := saying(t, two, true)
	client, dials := counting(t)
	first, err := exchangetest.Send(client, exchangetest.Post(t, t.Context(), u.URL, "{}"), 0)
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	exchangetest.ReadAll(t, first)
	second, err := exchangetest.Send(client, exchangetest.Post(t, t.Context(), u.URL, "{}"), 0)
	if err != nil || dials.Load() != 1 {
		t.Fatalf("Send: %v, %d connections", err, dials.Load())
	}
	_ = first.Body.Close()
	if _, err := first.Body.Read(make([]byte, 1)); err != errClosed {
		t.Errorf("Read: got %v, want %v", err, errClosed)
	}
	if got := exchangetest.ReadAll(t, second); got != "{}" {
		t.Errorf("got %q", got)
	}
}

func TestClosingUnblocksARead(t *testing.T) {
	u := saying(t, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n:\n\n", true)
	client, _ := counting(t)
	response, err := exchangetest.Send(client, exchangetest.Post(t, t.Context(), u.URL, "{}"), 0)
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	if n, err := response.Body.Read(make([]byte, 9)); n != 3 || err != nil {
		t.Fatalf("Read: %d, %v", n, err)
	}
	failed := make(chan error)
	go func() {
		_, err := response.Body.Read(make([]byte, 9))
		failed <- err
	}()
	_ = response.Body.Close()
	if err := <-failed; err == nil || err == io.EOF {
		t.Errorf("got %v", err)
	}
	if client.age() != 0 {
		t.Error("the connection was kept")
	}
}

// What is left of an answer that nobody read is no other's answer.
func TestAnAnswerThatWasNotReadEndsItsConnection(t *testing.T) {
	for name, text := range map[string]string{
		"length": "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", "chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
	} {
		u := saying(t, text, true)
		client, dials := counting(t)
		for range 3 {
			response, err := exchangetest.Send(client, exchangetest.Post(t, t.Context(), u.URL, "{}"), 0)
			if err != nil {
				t.Fatalf("%s: Send: %v", name, err)
			}
			if _, err := io.ReadFull(response.Body, make([]byte, 2)); err != nil {
				t.Fatalf("%s: Read: %v", name, err)
			}
			_ = response.Body.Close()
		}
		if dials.Load() != 3 {
			t.Errorf("%s: got %d connections, want 3", name, dials.Load())
		}
	}
}
