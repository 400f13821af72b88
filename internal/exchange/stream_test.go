package exchange

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"log"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/memnet"
	"berth/internal/realtest"
)

// quiet is a log for servers whose clients are rude.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// inFakeTime serves handler in memory and returns a client that reaches it as
// http://a.
func inFakeTime(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	listener := memnet.Listen("a")
	server := &http.Server{Handler: handler}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	c := NewClientOver(memnet.Dialer(listener), time.Second)
	t.Cleanup(func() {
		c.Close()
		_ = server.Close()
		serving.Wait()
	})
	return c
}

func TestHeadersThatTakeTooLongEndTheExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hungUp atomic.Bool
		c := inFakeTime(t, func(_ http.ResponseWriter, r *http.Request) {
			hangUp(r)
			hungUp.Store(true)
		})
		begun := time.Now()
		failed := fails(t, c, post(t, t.Context(), "http://a/mcp", "{}"), 10*time.Second)
		failed.is(t, true, false, true)
		if !errors.Is(failed, errHeaderTimeout) || time.Since(begun) != 10*time.Second {
			t.Errorf("got %v after %v, want errHeaderTimeout after 10s", failed, time.Since(begun))
		}
		synctest.Wait()
		if !hungUp.Load() {
			t.Error("the upstream goes on")
		}
	})
}

// Only the headers are waited for: a stream may stand for hours afterwards.
func TestHeaderTimeoutDoesNotCutTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inFakeTime(t, func(w http.ResponseWriter, _ *http.Request) {
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Hour)
			_, _ = io.WriteString(w, "late")
		})
		response, err := send(c, post(t, t.Context(), "http://a/mcp", "{}"), 10*time.Second)
		if err != nil {
			t.Fatalf("Send: %v", err)
		}
		defer response.Body.Close()
		if body, err := io.ReadAll(response.Body); err != nil || string(body) != "late" {
			t.Errorf("body: got %q, %v, want late", body, err)
		}
	})
}

func TestNoLimitWaitsAsLongAsATool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := inFakeTime(t, func(http.ResponseWriter, *http.Request) { time.Sleep(24 * time.Hour) })
		response, err := send(c, post(t, t.Context(), "http://a/mcp", "{}"), 0)
		swallow(t, response, err)
	})
}

func TestClosingTheBodyEndsTheExchange(t *testing.T) {
	hungUp := make(chan struct{})
	server := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = http.NewResponseController(w).Flush()
		hangUp(r)
		close(hungUp)
	})
	response, err := send(newClient(t), post(t, t.Context(), server.URL, "{}"), 0)
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

func TestExchangesLeaveNothingBehind(t *testing.T) {
	server := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "{}")
	})
	before := runtime.NumGoroutine()
	c := newClient(t)
	var exchanging sync.WaitGroup
	for range 50 {
		exchanging.Go(func() {
			response, err := send(c, post(t, t.Context(), server.URL, "{}"), time.Hour)
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
func TestEncodedAnswersAreNeverInflated(t *testing.T) {
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	if _, err := z.Write(make([]byte, 1<<20)); err != nil {
		t.Fatalf("gzip: %v", err)
	}
	if err := z.Close(); err != nil {
		t.Fatalf("gzip: %v", err)
	}
	bomb := bytes.Repeat(member.Bytes(), 256)
	server := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "" {
			t.Errorf("berth asked for encoding %q", got)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	})
	response, err := send(newClient(t), post(t, t.Context(), server.URL, "{}"), 0)
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	defer response.Body.Close()
	if got := ShapeOf(response); got != Opaque {
		t.Errorf("shape: got %v, want Opaque", got)
	}
	if got := drain(t, NewReader(ShapeOf(response), response.Body), nil); !bytes.Equal(got, bomb) {
		t.Errorf("got %d bytes, want the %d that were sent", len(got), len(bomb))
	}
}

// The rest of a long answer is not kept: what is allocated for it in all is a
// small part of it.
func TestLongAnswersStream(t *testing.T) {
	const size, most = 100 << 20, 10 << 20
	server := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		chunk := bytes.Repeat([]byte("x"), 64<<10)
		for range size / len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	response, err := send(newClient(t), post(t, t.Context(), server.URL, "{}"), 0)
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	defer response.Body.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	reader, total := NewReader(ShapeOf(response), response.Body), 0
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
