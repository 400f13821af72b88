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

	"berth/proxy"
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

func TestOutEventsArriveOneByOne(t *testing.T) {
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

func TestOutSilentStreamGetsComments(t *testing.T) {
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
func TestOutCommentsStandBetweenEventsOnly(t *testing.T) {
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

// outUntilGone waits for its caller to leave, and tells when it did.
func outUntilGone(gone chan<- time.Duration) outFault {
	return func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		started := time.Now()
		<-r.Context().Done()
		gone <- time.Since(started)
		return true
	}
}

// In the modern era the client's departure is the cancellation (2026-07-28,
// "Cancellation"), wherever the answer stands.
func TestOutModernDepartureCancelsAtOnce(t *testing.T) {
	begun := map[string]func(w http.ResponseWriter){
		"before the header": func(http.ResponseWriter) {},
		"in the stream": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", outSSE)
			_, _ = io.WriteString(w, outProgress)
			_ = http.NewResponseController(w).Flush()
		},
		"in the JSON": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", outJSON)
			_, _ = io.WriteString(w, `{"jsonrpc":`)
			_ = http.NewResponseController(w).Flush()
		},
	}
	for name, begin := range begun {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan time.Duration, 1)
				f := newOutFleet(t, outOptions{})
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					begin(w)
					return outUntilGone(gone)(w, r, body)
				})
				ctx, leave := context.WithTimeout(t.Context(), 7*time.Second)
				defer leave()
				if resp, err := f.client.Do(f.call("modern").WithContext(ctx)); err == nil {
					_, _ = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				if took := <-gone; took != 7*time.Second {
					t.Errorf("the upstream was told after %v, want 7s", took)
				}
				if f.pool.Find("a").Silent() || f.pool.Find("a").DownFor() != 0 || f.calls("tools/call") != 1 {
					t.Error("a client that left counts against the upstream")
				}
			})
		})
	}
}

func TestOutStandingStreamEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOutFleet(t, outOptions{})
		session := f.initialize()
		ctx, leave := context.WithTimeout(t.Context(), 7*time.Hour)
		defer leave()
		resp := f.open(f.request(ctx, http.MethodGet, "", outSession(session)...))
		_, _ = io.ReadAll(resp.Body)
		resp.Body.Close()
		synctest.Wait()
		if n := f.servers[0].Hangups(http.MethodGet); n != 1 {
			t.Errorf("%d streams ended at the upstream, want 1", n)
		}
	})
}

// In the legacy era a hang-up is no cancellation (2025-11-25, "Sending Messages"):
// the tool runs on, and the task that it hands out is known.
func TestOutLegacyHangUpLetsTheCallRunOn(t *testing.T) {
	answers := map[string]outFault{
		"JSON": func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			time.Sleep(time.Minute)
			return outSay(outJSON, outAnswers[1].body)(w, r, body)
		},
		"events": outStream(func(_ context.Context, write func(string)) {
			for range 60 {
				write(outProgress)
				time.Sleep(time.Second)
			}
			write("data: " + outAnswers[1].body + "\n\n")
		}),
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOutFleet(t, outOptions{})
				f.servers[0].inject(answer)
				ctx, leave := context.WithTimeout(t.Context(), 3*time.Second)
				defer leave()
				if resp, err := f.client.Do(f.call("legacy").WithContext(ctx)); err == nil {
					_, _ = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if n := f.servers[0].Hangups("tools/call"); n != 0 {
					t.Errorf("%d calls were broken off", n)
				}
				if got := f.owner("t-1"); got != "a" {
					t.Errorf("owner is %q, want a", got)
				}
			})
		})
	}
}

func TestOutLegacyCallIsNotReadOnForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOutFleet(t, outOptions{endpoint: func(ep *proxy.Endpoint) { ep.Timeouts.Linger = time.Minute }})
		gone := make(chan time.Duration, 1)
		f.servers[0].inject(outUntilGone(gone))
		ctx, leave := context.WithTimeout(t.Context(), 3*time.Second)
		defer leave()
		if resp, err := f.client.Do(f.call("legacy").WithContext(ctx)); err == nil {
			resp.Body.Close()
		}
		if took := <-gone; took != time.Minute+3*time.Second {
			t.Errorf("read on for %v, want 1m3s", took)
		}
		if f.pool.Find("a").DownFor() != 0 {
			t.Error("what berth ended itself counts against the upstream")
		}
	})
}

// A stream that breaks must not look as if it had ended.
func TestOutBrokenStreamBreaksTheClients(t *testing.T) {
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
func TestOutStalledClientIsGivenUp(t *testing.T) {
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
func TestOutClientThatTakesNoHeaderIsGivenUp(t *testing.T) {
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
