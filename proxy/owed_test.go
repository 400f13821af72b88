package proxy_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
)

// breakAfter sends what stands there of an event stream and breaks the connection off, or ends
// the stream as if it were whole.
func breakAfter(text string, politely bool) faultFunc {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.Header().Set("Content-Type", eventsType)
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
		if !politely {
			panic(http.ErrAbortHandler)
		}
		return true
	}
}

// All published clients waited for ever where a stream broke before its response: most servers
// of sessions open it at once, so that no 502 comes. The stream's last event says what is.
func TestClientOfABrokenStreamIsTold(t *testing.T) {
	whole := `data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}` + "\n\n"
	long := `data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 300<<10)
	for name, sent := range map[string]string{
		"at once":             "",
		"after a comment":     ": hello\n\n",
		"after an event":      whole,
		"within an event":     whole + `data: {"jsonrpc":"2.0","id":1,"resu`,
		"within a long event": long,
	} {
		for _, era := range []string{"modern", "legacy"} {
			for how, politely := range map[string]bool{"reset": false, "end": true} {
				t.Run(name+" "+era+" "+how, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						f := newRig(t, rigOptions{})
						f.servers[0].inject(onMethod("tools/call", breakAfter(sent, politely)))
						r := f.do(f.call(era))
						if sent != long {
							r.fails(t, http.StatusOK, -32603, "upstream_reset", false)
							return
						}
						// What came of the event stays, and ends; it can be read by nobody.
						before, last, _ := strings.Cut(r.body, "\n\nevent: message\ndata: ")
						if before != long || !strings.Contains(last, `"upstream_reset"`) || !strings.HasSuffix(last, "\n\n") {
							t.Errorf("got %.200q … %q", r.body, last)
						}
					})
				})
			}
		}
	}
}

// A request that only reads may be sent again where its stream broke.
func TestBrokenStreamOfAReadMayBeAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		session := f.initialize()
		f.servers[0].inject(onMethod("resources/read", breakAfter(": hello\n\n", false)))
		m := f.legacy(session, "resources/read", `"uri":"file:///one"`).message(t)
		if m.Error == nil || m.Error.Data.Reason != "upstream_reset" || m.Error.Data.Retryable == nil || !*m.Error.Data.Retryable || m.Error.Data.RetryAfterMs != 1000 {
			t.Errorf("got %+v", m.Error)
		}
	})
}

// A client that can resume its stream is left to do so; and what was answered is.
func TestClientThatCanGoOnIsNotToldOfABreak(t *testing.T) {
	for name, sent := range map[string]string{
		"an event has an id":       "id: 7\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n",
		"a priming event has one":  "id: 7\nretry: 100\ndata:\n\n",
		"it stands behind a mark":  "\ufeffid: 7\ndata:\n\n",
		"the response has come":    doneEvent,
		"the response was refused": `data: {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}` + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{})
				f.servers[0].inject(onMethod("tools/call", breakAfter(sent, true)))
				if r := f.do(f.call("legacy")); r.body != sent {
					t.Errorf("got %q, want %q alone", r.body, sent)
				}
			})
		})
	}
}

// Streams of 2026-07-28 cannot be resumed, whatever ids their events have.
func TestModernStreamIsNotTakenForResumable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		f.servers[0].inject(onMethod("tools/call", breakAfter("id: 7\ndata:\n\n", true)))
		f.do(f.call("modern")).fails(t, http.StatusOK, -32603, "upstream_reset", false)
	})
}

// A standing stream owes nothing: its end is its end.
func TestStandingStreamJustEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		session := f.initialize()
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			return r.Method == http.MethodGet && breakAfter(": hello\n\n", true)(w, r, body)
		})
		if r := f.do(f.request(t.Context(), http.MethodGet, "", legacyHeader(session)...)); r.body != ": hello\n\n" {
			t.Errorf("got %q", r.body)
		}
	})
}

// Where berth's own end comes first, the client learns that, and can ask another berth.
func TestStreamThatADrainLeavesNoTimeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		f.servers[0].inject(onMethod("tools/call", streams(func(ctx context.Context, write func(string)) {
			write(progressEvent)
			<-ctx.Done()
		})))
		got := make(chan reply)
		go func() { got <- f.do(f.call("legacy")) }()
		time.Sleep(time.Second)
		f.proxy.Drain()
		synctest.Wait()
		f.proxy.ReleaseWaiters()
		r := <-got
		rest, ok := strings.CutPrefix(r.body, progressEvent)
		if !ok || !strings.Contains(rest, `"shutdown"`) {
			t.Errorf("got %q, want the progress, and that berth ends", r.body)
		}
	})
}

// A server that breaks its stream off is asked for the rest first: one that died answers no
// client that resumes, and clients give that up and wait.
func TestClientOfAStreamThatCannotGoOnIsTold(t *testing.T) {
	sent := "id: 7\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n"
	for name, c := range map[string]struct {
		asked faultFunc // nil: nobody listens any more
		told  bool
	}{
		"nobody is there":         {nil, true},
		"it has forgotten":        {sayStatus(http.StatusBadRequest, jsonType, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"no such event"},"id":null}`), true},
		"it knows no such stream": {sayStatus(http.StatusMethodNotAllowed, "text/plain", "no"), true},
		"it goes on":              {say(eventsType, ": here\n\n"), false},
		"it is not well":          {sayStatus(http.StatusServiceUnavailable, "text/plain", "later"), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{})
				session := f.initialize()
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					switch {
					case r.Method != http.MethodGet:
						if c.asked == nil {
							f.servers[0].listener.Close()
						}
						return breakAfter(sent, false)(w, r, body)
					case r.Header.Get(mcp.HeaderLastEvent) != "7" || r.Header.Get(mcp.HeaderSession) != session:
						t.Errorf("asked for event %q of session %q", r.Header.Get(mcp.HeaderLastEvent), r.Header.Get(mcp.HeaderSession))
						return false
					}
					return c.asked(w, r, body)
				})
				response := f.open(f.legacyRequest(t.Context(), session, "tools/call", `"name":"slow"`))
				defer response.Body.Close()
				body, _ := io.ReadAll(response.Body) // it breaks off, where the client may go on
				rest, ok := strings.CutPrefix(string(body), sent)
				if !ok || strings.Contains(rest, `"upstream_reset"`) != c.told || !c.told && rest != "" {
					t.Errorf("got %q after it, told: want %v", rest, c.told)
				}
			})
		})
	}
}
