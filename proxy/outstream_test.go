package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// outStream answers with an event stream that script writes; write flushes.
func outStream(script func(ctx context.Context, write func(string))) outFault {
	return func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		w.Header().Set("Content-Type", outSSE)
		control := http.NewResponseController(w)
		_ = control.Flush()
		script(r.Context(), func(s string) {
			_, _ = io.WriteString(w, s)
			_ = control.Flush()
		})
		return true
	}
}

const (
	outProgress = `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}` + "\n\n"
	outDone     = `data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}` + "\n\n"
)

func TestEventsArriveOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOutFleet(t, outOptions{})
		next := make(chan struct{})
		f.servers[0].inject(outStream(func(_ context.Context, write func(string)) {
			for range 3 {
				write(outProgress)
				<-next // the client has the event before there is another
			}
			write(outDone)
		}))
		resp := f.open(f.call("modern"))
		defer resp.Body.Close()
		lines := newOutLines(t, resp)
		for range 3 {
			if got := lines.event(); got+"\n\n" != outProgress {
				t.Errorf("got %q", got)
			}
			next <- struct{}{}
		}
		if got := lines.event(); got+"\n\n" != outDone {
			t.Errorf("got %q", got)
		}
	})
}

func TestSilentStreamGetsComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOutFleet(t, outOptions{})
		f.servers[0].inject(outStream(func(_ context.Context, write func(string)) {
			time.Sleep(16 * time.Second)
			write(outProgress)
			time.Sleep(50 * time.Second)
			write(outDone)
		}))
		started := time.Now()
		resp := f.open(f.call("modern"))
		defer resp.Body.Close()
		lines := newOutLines(t, resp)
		var got []string
		for range 6 {
			what := "event"
			if lines.event() == ":" {
				what = "comment"
			}
			got = append(got, fmt.Sprintf("%s at %v", what, time.Since(started)))
		}
		want := []string{"comment at 15s", "event at 16s", "comment at 31s", "comment at 46s", "comment at 1m1s", "event at 1m6s"}
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// A comment inside an event that is passed on in pieces, or in JSON, would break it.
func TestCommentsStandBetweenEventsOnly(t *testing.T) {
	for _, contentType := range []string{outSSE, outJSON} {
		t.Run(contentType, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOutFleet(t, outOptions{})
				half := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","x":"` + strings.Repeat("x", 300<<10)
				begin, end := "data: "+half, "\"}}\n\n"
				if contentType == outJSON {
					begin = half
				}
				f.servers[0].inject(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
					w.Header().Set("Content-Type", contentType)
					_, _ = io.WriteString(w, begin)
					_ = http.NewResponseController(w).Flush()
					time.Sleep(time.Minute)
					_, _ = io.WriteString(w, end)
					return true
				})
				if r := f.do(f.call("modern")); r.body != begin+end {
					t.Errorf("%d bytes arrived, or others than the %d sent", len(r.body), len(begin+end))
				}
			})
		})
	}
}

// A stream that breaks must not look as if it had ended.
func TestBrokenStreamBreaksTheClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOutFleet(t, outOptions{})
		f.servers[0].inject(outStream(func(_ context.Context, write func(string)) {
			write(outProgress)
			panic(http.ErrAbortHandler)
		}))
		resp := f.open(f.call("modern"))
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); string(got) != outProgress || err == nil {
			t.Errorf("got %q, %v; want the event and an error", got, err)
		}
	})
}

// A client that takes nothing does not hold its upstream for ever.
func TestStalledClientIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOutFleet(t, outOptions{})
		gone := make(chan time.Duration, 1)
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			started := time.Now()
			return outStream(func(ctx context.Context, write func(string)) {
				for ctx.Err() == nil {
					write(outProgress)
				}
				gone <- time.Since(started)
			})(w, r, nil)
		})
		resp := f.open(f.call("modern"))
		defer resp.Body.Close()
		if took := <-gone; took != 30*time.Second {
			t.Errorf("given up after %v, want 30s", took)
		}
	})
}

// Nor does one that does not even take the header.
func TestClientThatTakesNoHeaderIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOutFleet(t, outOptions{})
		gone := make(chan time.Duration, 1)
		f.servers[0].inject(outStream(func(ctx context.Context, _ func(string)) {
			started := time.Now()
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			gone <- time.Since(started)
		}))
		conn, err := f.network.dial(t.Context(), "tcp", "berth:80")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := f.call("modern").Write(conn); err != nil {
			t.Fatal(err)
		}
		if took := <-gone; took != 30*time.Second {
			t.Errorf("given up after %v, want 30s", took)
		}
	})
}
