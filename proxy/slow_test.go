package proxy_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/h1/h1test"
	"berth/internal/memnet"
	"berth/proxy"
)

// inMemory serves a proxy that no request reaches an upstream of, in fake time.
func inMemory(t *testing.T) *memnet.Listener {
	t.Helper()
	p := proxy.New(proxy.Options{Loopback: true, Endpoints: []*proxy.Endpoint{{Path: "/mcp", Router: unreachable()}}})
	listener := memnet.Listen("berth")
	h1test.Serve(t, listener, p, h1test.Options{MaxHead: headerLimit})
	return listener
}

// late is what a bound of a connection's may come late, so that busy ones rarely touch a timer.
const late = time.Second

func onTime(took, bound time.Duration) bool { return took >= bound && took <= bound+late }

// TestSlowBodyEndsInTime: a client that sends its body drop by drop, or not at all,
// is told so and let go; whether the request was to be refused anyway or not.
func TestSlowBodyEndsInTime(t *testing.T) {
	for name, c := range map[string]struct {
		head   string
		status int
		within time.Duration // until the answer
	}{
		"never comes":         {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", 408, 30 * time.Second},
		"chunk never comes":   {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", 408, 30 * time.Second},
		"of a GET":            {"GET /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", 400, 0},
		"to nowhere":          {"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", 404, 0},
		"of another method":   {"PUT /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", 405, 0},
		"from a foreign page": {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\nTransfer-Encoding: chunked\r\n\r\n", 403, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, err := inMemory(t).Dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				began := time.Now()
				if _, err := io.WriteString(conn, c.head); err != nil {
					t.Fatal(err)
				}
				reader := bufio.NewReader(conn)
				response, err := http.ReadResponse(reader, nil)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if took := time.Since(began); response.StatusCode != c.status || !response.Close || took > c.within+late {
					t.Errorf("got %d, closing %v, after %v, want %d, closing, within %v", response.StatusCode, response.Close, took, c.status, c.within)
				}
				_, _ = io.Copy(io.Discard, reader)
				if took := time.Since(began); took > 31*time.Second+late {
					t.Errorf("the connection lived for %v", took)
				}
			})
		})
	}
}

// TestReaderThatStallsIsCutOff: what it does not take is not piled up, and its
// exchange with the upstream ends.
func TestReaderThatStallsIsCutOff(t *testing.T) {
	var written atomic.Int64
	ended := make(chan struct{})
	b := start(t, setup{
		handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			event := "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"" + strings.Repeat("x", 8<<10) + "\"}}\n\n"
			for r.Context().Err() == nil {
				n, err := io.WriteString(w, event)
				written.Add(int64(n))
				if err != nil {
					return
				}
			}
		}),
		options: func(o *proxy.Options) { o.Limits.WriteStall = 100 * time.Millisecond },
	})
	conn := b.dial()
	body := modernMessage("tools/call", `"name":"x"`)
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Protocol-Version: 2026-07-28\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the upstream is still being read")
	}
	// Socket buffers of the kernel, on both sides of berth.
	if n := written.Load(); n > 32<<20 {
		t.Errorf("the upstream could write %d bytes to nobody", n)
	}
	rest, err := io.Copy(io.Discard, conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection is still open after %d bytes", rest)
	}
}

// TestStreamOutlivesTheBodysDeadline: the time given to a request's body must not
// end an answer that takes longer.
func TestStreamOutlivesTheBodysDeadline(t *testing.T) {
	const bodyRead = 100 * time.Millisecond
	b := start(t, setup{
		options: func(o *proxy.Options) { o.Limits.BodyRead = bodyRead },
		handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-r.Context().Done():
			case <-time.After(5 * bodyRead):
				w.WriteHeader(http.StatusAccepted)
			}
		}),
	})
	for _, r := range []reply{b.modern("tools/call", "x", `"name":"x"`), b.send(http.MethodGet, "/mcp", "", "Mcp-Protocol-Version", "2026-07-28")} {
		if r.status != http.StatusAccepted {
			t.Errorf("got %v, want 202", r)
		}
	}
}
