package probe_test

import (
	"bytes"
	"context"
	"net/http"
	"testing"
	"time"

	"berth/internal/mcptest"
	"berth/internal/probe"
)

// The first 429 ends the measuring; what is left is cleaned up, but not before the
// server is ready for it.
func TestThrottledRunWaitsAndCleansUp(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		const wait = 7 * time.Second
		var seen int
		var refused time.Time
		s := &mcptest.Server{Name: "a"}
		s.Intercept = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			seen++
			if seen == 20 {
				refused = time.Now()
				answering(429, "Retry-After: 7", "slow down")(w, r)
				return true
			}
			if seen > 20 && time.Since(refused) < wait {
				t.Errorf("request %d came %v after a 429, want none within %v", seen, time.Since(refused), wait)
			}
			return false
		}
		report := probed(t, s)
		if report.Verdict != probe.Unknown || report.Left != (probe.Left{}) {
			t.Errorf("got %v, left %+v, want unknown and nothing left", report.Verdict, report.Left)
		}
		if got := s.Calls("tasks/cancel"); got != 10 {
			t.Errorf("%d tasks cancelled, want the 10 that were made", got)
		}
	})
}

func TestLongRetryAfterLeavesThingsBehindAndSaysSo(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a"}
		s.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if !bytes.Contains(body, []byte("tasks/get")) {
				return false
			}
			answering(429, "Retry-After: 3600", "")(w, r)
			return true
		}
		report := probed(t, s)
		if report.Left.Tasks != 10 || s.Calls("tasks/cancel") != 0 {
			t.Errorf("left %+v after %d cancels, want 10 tasks, none", report.Left, s.Calls("tasks/cancel"))
		}
		if report.Seconds > 20 {
			t.Errorf("took %v s, want no waiting in vain", report.Seconds)
		}
	})
}

func TestInterruptedRunCleansUp(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		for _, after := range []time.Duration{500 * time.Millisecond, 3 * time.Second, 8 * time.Second, 11 * time.Second} {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(after, cancel)
			s := &mcptest.Server{Name: "a", PollInterval: time.Second}
			report := probedBy(ctx, t, s)
			cancel()
			if report.Verdict != probe.Unknown || report.Reason != "it was interrupted" || report.Left != (probe.Left{}) {
				t.Errorf("after %v: got %v (%s), left %+v, want nothing left", after, report.Verdict, report.Reason, report.Left)
			}
			if opened, ended := s.Calls("initialize"), s.Calls("DELETE"); opened != ended {
				t.Errorf("after %v: %d sessions opened, %d ended", after, opened, ended)
			}
			if made, cancelled := s.Executions(), s.Calls("tasks/cancel"); made != cancelled {
				t.Errorf("after %v: %d tasks made, %d cancelled", after, made, cancelled)
			}
		}
	})
}

// Where cancelling is lost too, it is tried again, task by task.
func TestCleaningUpIsTriedSeveralTimes(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		tried := map[string]int{}
		s := &mcptest.Server{Name: "a", Stateless: true}
		s.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			id := r.Header.Get("Mcp-Name")
			if r.Header.Get("Mcp-Method") != "tasks/cancel" {
				return false
			}
			if tried[id]++; tried[id] > 5 {
				return false
			}
			answering(404, "", "")(w, r)
			return true
		}
		report := probed(t, s)
		if got := check(t, report, modern, "cancels"); got.Lost != 10 || report.Left != (probe.Left{}) {
			t.Errorf("got %+v, left %+v, want all lost at first and nothing left", got, report.Left)
		}
		for id, n := range tried {
			if n != 6 {
				t.Errorf("%d cancels of %s, want as many as it took: 6", n, id)
			}
		}
	})
}
