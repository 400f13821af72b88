package probe_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/mcptest"
	"berth/internal/memnet"
	"berth/internal/probe"
)

// counted counts requests before h sees them.
type counted struct {
	h    http.Handler
	seen atomic.Int64
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.seen.Add(1)
	c.h.ServeHTTP(w, r)
}

func answering(status int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		name, value, _ := strings.Cut(header, ": ")
		w.Header().Set(name, value)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func TestWhatIsNoMCPHasNoVerdict(t *testing.T) {
	const json, html = "Content-Type: application/json", "Content-Type: text/html"
	cases := map[string]struct {
		h      http.Handler
		most   int64 // requests
		reason string
	}{
		"page":          {answering(200, html, "<html>hello</html>"), 2, "no MCP there"},
		"not found":     {answering(404, html, "<html>"), 2, "HTTP 404"},
		"redirect":      {answering(307, "Location: http://u:p@elsewhere/mcp?secret", ""), 2, "HTTP 307, a redirect to http://elsewhere/mcp, which is not followed;"},
		"unauthorized":  {answering(401, json, `{}`), 1, "401"},
		"throttled":     {answering(429, "Retry-After: 3", ""), 1, "429"},
		"another's id":  {answering(200, json, `{"jsonrpc":"2.0","id":99,"result":{}}`), 2, "belongs to no request"},
		"null result":   {answering(200, json, `{"jsonrpc":"2.0","id":1,"result":null}`), 2, "no MCP there"},
		"array":         {answering(200, json, `[]`), 2, "unreadable"},
		"broken":        {answering(200, json, `{"jsonrpc":`), 2, "unreadable"},
		"odd events":    {answering(200, "Content-Type: text/event-stream", "data: {\n\ndata: 1\n\n"), 2, "unreadable"},
		"endless event": {answering(200, "Content-Type: text/event-stream", strings.Repeat("data: x\n", 1<<19)), 2, "unreadable"},
		"odd error":     {answering(400, json, `{"error":{"code":"x","message":7}}`), 2, "HTTP 400"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				h := &counted{h: c.h}
				report := probed(t, h)
				if report.Verdict != probe.Unknown || !strings.Contains(report.Reason, c.reason) {
					t.Errorf("got %v: %q, want unknown: %q", report.Verdict, report.Reason, c.reason)
				}
				if got := h.seen.Load(); got > c.most || got != int64(report.Requests) {
					t.Errorf("%d requests came, the report says %d, want at most %d", got, report.Requests, c.most)
				}
			})
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		target := &counted{h: http.NotFoundHandler()}
		elsewhere := served(t, "elsewhere", target)
		here := served(t, front, answering(308, "Location: http://elsewhere/mcp", ""))
		probe.Run(t.Context(), options(here, elsewhere))
		if got := target.seen.Load(); got != 0 {
			t.Errorf("%d requests followed the redirect, want none", got)
		}
	})
}

func TestDeadPortHasNoVerdict(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		l := memnet.Listen(front)
		l.Close()
		report := probe.Run(t.Context(), options(l))
		if report.Verdict != probe.Unknown || !strings.Contains(report.Reason, "refused") {
			t.Errorf("got %v: %q, want unknown: refused", report.Verdict, report.Reason)
		}
	})
}

// silent reads a request and never answers. Only with the body read is it told that the
// client left.
func silent(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func TestServerThatNeverAnswersTakesBoundedTime(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		began := time.Now()
		report := probed(t, http.HandlerFunc(silent))
		if took := time.Since(began); report.Verdict != probe.Unknown || took > 30*time.Second {
			t.Errorf("got %v after %v, want unknown soon", report.Verdict, took)
		}
	})
}

func TestHalfAnAnswerTakesBoundedTime(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a", Stateless: true}
		s.Intercept = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			if r.Header.Get("Mcp-Method") != "subscriptions/listen" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":`)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return true
		}
		report := probed(t, s)
		if got := check(t, report, modern, "listened"); got.Failed+got.Lost == 0 || report.Seconds > 30 {
			t.Errorf("got %+v after %v s, want it noted, and soon", got, report.Seconds)
		}
	})
}

func TestServerThatFallsSilentEndsTheRun(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a"}
		s.Intercept = func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
			if !bytes.Contains(body, []byte("tasks/")) {
				return false
			}
			<-r.Context().Done()
			return true
		}
		report := probed(t, s)
		if polls := check(t, report, modern, "polls"); report.Verdict != probe.Unknown || polls.Failed != 5 || polls.Lost != 0 {
			t.Errorf("got %v and %+v, want unknown after 5 polls that failed", report.Verdict, polls)
		}
		if report.Left.Tasks != 10 {
			t.Errorf("left %+v, want the 10 tasks that could not be cancelled", report.Left)
		}
	})
}

func TestTimeEndsTheRun(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		began := time.Now()
		report := probed(t, &mcptest.Server{Name: "a"}, func(o *probe.Options) { o.Limit = 2 * time.Second })
		if report.Verdict != probe.Unknown || report.Reason != "the time is over" || report.Left != (probe.Left{}) {
			t.Errorf("got %v (%s), left %+v, want the time over and nothing left", report.Verdict, report.Reason, report.Left)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %v, want little more than 2 s", took)
		}
	})
}

// A tool that is not answered in time is not called again, and what it may have made is
// told of.
func TestToolThatNeverAnswersIsCalledOnce(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a", Stateless: true}
		s.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if !bytes.Contains(body, []byte("tools/call")) {
				return false
			}
			silent(w, r)
			return true
		}
		report := probed(t, s)
		if calls := s.Calls("tools/call"); calls != 2 || report.Left.Unknown != 2 || report.Verdict != probe.Unknown {
			t.Errorf("got %v, %d calls, left %+v, want unknown, one call an era, and both told of", report.Verdict, s.Calls("tools/call"), report.Left)
		}
	})
}

func TestUnavailableIsNotLost(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a"}
		var polls int
		s.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if !bytes.Contains(body, []byte("tasks/get")) {
				return false
			}
			polls++
			if polls%3 == 0 {
				answering(503, "Retry-After: 1", "")(w, r)
			}
			return polls%3 == 0
		}
		report := probed(t, s)
		got := check(t, report, modern, "polls")
		if got.Lost != 0 || got.Failed != 10 || report.Verdict != probe.Unknown {
			t.Errorf("got %v and %+v, want unknown, 10 failed and none lost", report.Verdict, got)
		}
	})
}

// A server may repeat what it was sent; a report must not.
func TestReportRepeatsNoCredentials(t *testing.T) {
	const secret = "canary-token-1234"
	inFakeTime(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a"}
		s.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if !bytes.Contains(body, []byte("tasks/get")) {
				return false
			}
			said, _ := json.Marshal("no task for " + r.Header.Get("Authorization") + "\x1b[31m\u202e")
			answering(200, "Content-Type: application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":`+string(said)+`}}`)(w, r)
			return true
		}
		report := probed(t, s, func(o *probe.Options) {
			o.Header = http.Header{"Authorization": {"Bearer " + secret}}
			o.URL += "?key=" + secret
		})
		text, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		if report.Verdict != probe.Lost || bytes.Contains(text, []byte(secret)) || !bytes.Contains(text, []byte("no task for")) {
			t.Errorf("got %s, want the remark without the secret", text)
		}
		if bytes.ContainsAny(text, "\x1b\u202e") || bytes.Contains(text, []byte(`\u001b`)) {
			t.Errorf("got control characters in %s", text)
		}
	})
}
