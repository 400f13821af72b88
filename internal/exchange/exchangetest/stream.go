package exchangetest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/memnet"
	"berth/internal/realtest"
)

// quiet is a log for servers whose clients are rude.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// inFakeTime serves handler in memory and returns a client that reaches it as
// http://a.
func (s subject) inFakeTime(t *testing.T, handler http.HandlerFunc) exchange.Sender {
	t.Helper()
	listener := memnet.Listen("a")
	server := &http.Server{Handler: handler}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	c := s.new(Dialling{Connect: time.Second, Dial: memnet.Dialer(listener)})
	t.Cleanup(func() {
		c.Close()
		_ = server.Close()
		serving.Wait()
	})
	return c
}

func testHeadersThatTakeTooLongEndTheExchange(t *testing.T, s subject) {
	synctest.Test(t, func(t *testing.T) {
		var hungUp atomic.Bool
		c := s.inFakeTime(t, func(_ http.ResponseWriter, r *http.Request) {
			hangUp(r)
			hungUp.Store(true)
		})
		begun := time.Now()
		failed := Fails(t, c, Post(t, t.Context(), "http://a/mcp", "{}"), 10*time.Second)
		Is(t, failed, true, false, true)
		if !errors.Is(failed, exchange.ErrNotInTime) || time.Since(begun) != 10*time.Second {
			t.Errorf("got %v after %v, want exchange.ErrNotInTime after 10s", failed, time.Since(begun))
		}
		synctest.Wait()
		if !hungUp.Load() {
			t.Error("the upstream goes on")
		}
	})
}

// Only the headers are waited for: a stream may stand for hours afterwards.
func testHeaderTimeoutDoesNotCutTheBody(t *testing.T, s subject) {
	synctest.Test(t, func(t *testing.T) {
		c := s.inFakeTime(t, func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Hour)
			_, _ = io.WriteString(w, "late")
		})
		response, err := Send(c, Post(t, t.Context(), "http://a/mcp", "{}"), 10*time.Second)
		if err != nil {
			t.Fatalf("Send: %v", err)
		}
		defer response.Body.Close()
		if body, err := io.ReadAll(response.Body); err != nil || string(body) != "late" {
			t.Errorf("body: got %q, %v, want late", body, err)
		}
	})
}

func testNoLimitWaitsAsLongAsATool(t *testing.T, s subject) {
	synctest.Test(t, func(t *testing.T) {
		c := s.inFakeTime(t, func(http.ResponseWriter, *http.Request) { time.Sleep(24 * time.Hour) })
		response, err := Send(c, Post(t, t.Context(), "http://a/mcp", "{}"), 0)
		Swallow(t, response, err)
	})
}

func testClosingTheBodyEndsTheExchange(t *testing.T, s subject) {
	hungUp := make(chan struct{})
	server := Upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = http.NewResponseController(w).Flush()
		hangUp(r)
		close(hungUp)
	})
	response, err := Send(s.client(t), Post(t, t.Context(), server.URL, "{}"), 0)
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	if err := response.Body.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	select {
	case <-hungUp:
	case <-time.After(realtest.Within):
		t.Error("the upstream was not told")
	}
}

func testExchangesLeaveNothingBehind(t *testing.T, s subject) {
	server := Upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "{}")
	})
	before := runtime.NumGoroutine()
	c := s.client(t)
	var exchanging sync.WaitGroup
	for range 50 {
		exchanging.Go(func() {
			response, err := Send(c, Post(t, t.Context(), server.URL, "{}"), time.Hour)
			if err != nil {
				t.Errorf("Send: %v", err)
				return
			}
			_ = response.Body.Close() // read or not
		})
	}
	exchanging.Wait()
	c.Close()
	realtest.Eventually(t, "goroutines back at the baseline", func() bool { return runtime.NumGoroutine() <= before })
}

// 260 kB that would inflate to 256 MiB go through as they came.
func testEncodedAnswersAreNeverInflated(t *testing.T, s subject) {
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	if _, err := z.Write(make([]byte, 1<<20)); err != nil {
		t.Fatalf("gzip: %v", err)
	}
	if err := z.Close(); err != nil {
		t.Fatalf("gzip: %v", err)
	}
	bomb := bytes.Repeat(member.Bytes(), 256)
	server := Upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "" {
			t.Errorf("berth asked for encoding %q", got)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	})
	response, err := Send(s.client(t), Post(t, t.Context(), server.URL, "{}"), 0)
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	defer response.Body.Close()
	if got := exchange.ShapeOf(response); got != exchange.Opaque {
		t.Errorf("shape: got %v, want exchange.Opaque", got)
	}
	if got := drain(t, exchange.NewReader(exchange.ShapeOf(response), response.Body)); !bytes.Equal(got, bomb) {
		t.Errorf("got %d bytes, want the %d that were sent", len(got), len(bomb))
	}
}

// The rest of a long answer is not kept: what is allocated for it in all is a
// small part of it.
func testLongAnswersStream(t *testing.T, s subject) {
	const size, most = 100 << 20, 10 << 20
	server := Upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		chunk := bytes.Repeat([]byte("x"), 64<<10)
		for range size / len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	response, err := Send(s.client(t), Post(t, t.Context(), server.URL, "{}"), 0)
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	defer response.Body.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	reader, total := exchange.NewReader(exchange.ShapeOf(response), response.Body), 0
	for {
		piece, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("Next: %v", err)
		}
		total += len(piece.Raw)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; total != size || allocated > most {
		t.Errorf("got %d bytes, %d allocated, want %d and at most %d", total, allocated, size, most)
	}
}

// A JSON message that broke off is not shown, nor passed on: nothing of it went
// out, so that the client can still be told.
func testBrokenMessageIsAnError(t *testing.T, s subject) {
	for name, head := range map[string]string{
		"short of its length": "Content-Length: 100\r\n\r\n{\"jsonrpc\"",
		"without last chunk":  "Transfer-Encoding: chunked\r\n\r\na\r\n{\"jsonrpc\"\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			u := NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"+head)
				return false
			})
			response, err := Send(s.client(t), Post(t, t.Context(), u.URL, "{}"), 0)
			if err != nil {
				t.Fatalf("Send: %v", err)
			}
			defer response.Body.Close()
			reader := exchange.NewReader(exchange.JSON, response.Body)
			for range 2 {
				if piece, err := reader.Next(); err == nil || errors.Is(err, io.EOF) || piece.Raw != nil {
					t.Errorf("Next: got %q, %v, want an error", piece.Raw, err)
				}
			}
		})
	}
}

// drain reads all pieces and returns their bytes.
func drain(t *testing.T, r *exchange.Reader) (all []byte) {
	t.Helper()
	for {
		piece, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("Next: %v", err)
		}
		all = append(all, piece.Raw...)
	}
}
