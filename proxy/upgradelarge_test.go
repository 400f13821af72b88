package proxy_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// An answer that is larger than the rule allows fails the task, and is not read on.
func TestAnswerThatIsTooLarge(t *testing.T) {
	const limit = 8 << 20
	piece := strings.Repeat("x", 1<<20)
	var sent atomic.Int64
	pour := func(contentType, begin string, declared, n int) faultFunc {
		return func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			sent.Store(0)
			w.Header().Set("Content-Type", contentType)
			if declared > 0 {
				w.Header().Set("Content-Length", strconv.Itoa(declared))
			}
			_, _ = io.WriteString(w, begin)
			for range n {
				if _, err := io.WriteString(w, piece); err != nil {
					break
				}
				sent.Add(1 << 20)
			}
			<-r.Context().Done()
			return true
		}
	}
	for name, c := range map[string]struct {
		answer faultFunc
		reason string
	}{
		"9 MiB":                    {pour(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"x":"`, 0, 9), "result_too_large"},
		"9 MiB that are announced": {pour(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"x":"`, 9<<20, 9), "result_too_large"},
		"an event of 64 MiB":       {pour(eventsType, `data: {"jsonrpc":"2.0","id":1,"result":{"x":"`, 0, 64), "event_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newUpgraded(t, rigOptions{}, nil)
			f.answers(c.answer)
			v := f.reaches(f.made(), "failed")
			if !strings.Contains(string(v.Error), `"reason":"`+c.reason+`"`) || !strings.Contains(string(v.Error), `"code":-32603`) {
				t.Errorf("got %s", v.Error)
			}
			f.eventually("the end of the exchange", func() bool { return f.servers[0].Hangups("tools/call") == 1 })
			if n := sent.Load(); n > limit+2<<20 {
				t.Errorf("%d bytes were read", n)
			}
		})
	}
}

// Many events cost no more memory than one.
func TestManyEventsOfAHeldCall(t *testing.T) {
	const events, batch = 125_000, 1000
	line := strings.Repeat("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n", batch)
	f := newUpgraded(t, rigOptions{}, nil)
	var most uint64
	f.answers(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		w.Header().Set("Content-Type", eventsType)
		for n := range events / batch {
			_, _ = io.WriteString(w, line)
			if n%25 == 24 {
				most = max(most, heap())
			}
		}
		_, _ = io.WriteString(w, "data: "+response(body, `"result":`+done)+"\n\n")
		return true
	})
	before := heap()
	id := f.made()
	<-f.heldDone()
	if v := f.look(id); v.Status != "completed" || string(v.Result) != done {
		t.Errorf("got %+v", v)
	}
	if most > before+4<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, most)
	}
}

// heldDone is closed when nothing is held.
func (f *upgraded) heldDone() <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for limit := time.Now().Add(2 * time.Minute); f.tasks.Held() > 0 && time.Now().Before(limit); {
			<-time.After(10 * time.Millisecond)
		}
	}()
	return ended
}
