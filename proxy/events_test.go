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

// streams answers with an event stream that script writes; write flushes.
func streams(script func(ctx context.Context, write func(string))) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		w.Header().Set("Content-Type", eventsType)
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
	logEvent      = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}` + "\n\n"
	progressEvent = `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}` + "\n\n"
	doneEvent     = `data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}` + "\n\n"
)

func TestEventsArriveOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		next := make(chan struct{})
		f.servers[0].inject(streams(func(_ context.Context, write func(string)) {
			for range 3 {
				write(progressEvent)
				<-next // the client has the event before there is another
			}
			write(doneEvent)
		}))
		resp := f.open(f.call("modern"))
		defer resp.Body.Close()
		lines := newEventLines(t, resp)
		for range 3 {
			if got := lines.event(); got+"\n\n" != progressEvent {
				t.Errorf("got %q", got)
			}
			next <- struct{}{}
		}
		if got := lines.event(); got+"\n\n" != doneEvent {
			t.Errorf("got %q", got)
		}
	})
}

// Events that come together are flushed together, and none of them waits for one that has only begun, or is to follow.
func TestEventsThatComeTogetherDoNotWait(t *testing.T) {
	for _, beginning := range []string{"", "\n", "data: ", doneEvent[:len(doneEvent)-1]} {
		t.Run(fmt.Sprintf("%.10q", beginning), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{})
				next := make(chan struct{})
				f.servers[0].inject(streams(func(_ context.Context, write func(string)) {
					write(progressEvent + logEvent + logEvent + beginning)
					<-next // the client has all three before there is more
					write(strings.TrimPrefix(doneEvent, beginning))
				}))
				resp := f.open(f.call("modern"))
				defer resp.Body.Close()
				lines := newEventLines(t, resp)
				for _, want := range []string{progressEvent, logEvent, logEvent} {
					if got := lines.event(); got+"\n\n" != want {
						t.Errorf("got %q, want %q", got, want)
					}
				}
				close(next)
				for got := ""; got+"\n\n" != doneEvent; got = lines.event() {
				}
			})
		})
	}
}

// What was released is not lost with what breaks the stream off.
func TestEventsBeforeABreakArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		f.servers[0].inject(streams(func(_ context.Context, write func(string)) {
			write(progressEvent + logEvent + "data: {")
			panic(http.ErrAbortHandler)
		}))
		resp := f.open(f.request(t.Context(), http.MethodGet, "", legacyHeader("")...))
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); string(got) != progressEvent+logEvent+"data: {" || err == nil {
			t.Errorf("got %q, %v; want the events and an error", got, err)
		}
	})
}

func TestSilentStreamGetsComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		f.servers[0].inject(streams(func(_ context.Context, write func(string)) {
			time.Sleep(16 * time.Second)
			write(progressEvent)
			time.Sleep(50 * time.Second)
			write(doneEvent)
		}))
		started := time.Now()
		resp := f.open(f.call("modern"))
		defer resp.Body.Close()
		lines := newEventLines(t, resp)
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
	for _, contentType := range []string{eventsType, jsonType} {
		t.Run(contentType, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{})
				half := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","x":"` + strings.Repeat("x", 300<<10)
				begin, end := "data: "+half, "\"}}\n\n"
				if contentType == jsonType {
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

// A standing stream that breaks must not look as if it had ended.
func TestBrokenStreamBreaksTheClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		f.servers[0].inject(streams(func(_ context.Context, write func(string)) {
			write(progressEvent)
			panic(http.ErrAbortHandler)
		}))
		resp := f.open(f.request(t.Context(), http.MethodGet, "", legacyHeader("")...))
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); string(got) != progressEvent || err == nil {
			t.Errorf("got %q, %v; want the event and an error", got, err)
		}
	})
}

// A client that takes nothing does not hold its upstream for ever.
func TestStalledClientIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		gone := make(chan time.Duration, 1)
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			started := time.Now()
			return streams(func(ctx context.Context, write func(string)) {
				for ctx.Err() == nil {
					write(progressEvent)
				}
				gone <- time.Since(started)
			})(w, r, nil)
		})
		resp := f.open(f.call("modern"))
		defer resp.Body.Close()
		if took := <-gone; !onTime(took, 30*time.Second) {
			t.Errorf("given up after %v, want 30s", took)
		}
	})
}

// Nor does one that does not even take the header.
func TestClientThatTakesNoHeaderIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		gone := make(chan time.Duration, 1)
		f.servers[0].inject(streams(func(ctx context.Context, _ func(string)) {
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
		if took := <-gone; !onTime(took, 30*time.Second) {
			t.Errorf("given up after %v, want 30s", took)
		}
	})
}
