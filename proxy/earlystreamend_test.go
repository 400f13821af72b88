package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
)

// Once the stream is open, whatever comes is its last event, under the call's id.
func TestEarlyStreamEndsWithWhatCame(t *testing.T) {
	const refusal = `{"code":-32099,"message":"no  more","data":{"a":1.0}}`
	for name, c := range map[string]struct {
		answer  faultFunc
		body    string // of the last event; "": an error of berth's own
		code    int
		reason  string
		message string // part of berth's own
		outcome string
	}{
		"result":                     {answer: say(jsonType, doneJSON), body: doneJSON, outcome: "ok"},
		"result on several lines":    {answer: say(jsonType, "\ufeff{\r\n\"jsonrpc\":\"2.0\",\n\n\"id\":1,\"result\":{}}\n"), body: `{  "jsonrpc":"2.0",  "id":1,"result":{}} `, outcome: "ok"},
		"error":                      {answer: say(jsonType, `{"jsonrpc":"2.0","id":1,"error":`+refusal+`}`), body: `{"jsonrpc":"2.0","id":1,"error":` + refusal + `}`, outcome: "ok"},
		"error with an order mark":   {answer: say(jsonType, "\ufeff"+`{"jsonrpc":"2.0","id":1,"error":`+refusal+`}`), body: `{"jsonrpc":"2.0","id":1,"error":` + refusal + `}`, outcome: "ok"},
		"error of code 0":            {answer: say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"no"}}`), body: `{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"no"}}`, outcome: "ok"},
		"error of code -32602.0":     {answer: say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602.0,"message":"no"}}`), body: `{"jsonrpc":"2.0","id":1,"error":{"code":-32602.0,"message":"no"}}`, outcome: "ok"},
		"error of code 4e12":         {answer: say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":4e12,"message":"no"}}`), body: `{"jsonrpc":"2.0","id":1,"error":{"code":4e12,"message":"no"}}`, outcome: "ok"},
		"error with a status":        {answer: sayStatus(400, jsonType, `{"jsonrpc":"2.0","id":1,"error":`+refusal+`,"x":0}`), body: `{"jsonrpc":"2.0","id":1,"error":` + refusal + `,"x":0}`, outcome: "ok"},
		"error of nobody's":          {answer: sayStatus(500, jsonType, `{"jsonrpc":"2.0","error":`+refusal+`,"id":null}`), body: `{"jsonrpc":"2.0","id":1,"error":` + refusal + `}`, outcome: "upstream_error"},
		"error without an id":        {answer: sayStatus(503, jsonType, `{"jsonrpc":"2.0","error":`+refusal+`}`), body: `{"jsonrpc":"2.0","id":1,"error":` + refusal + `}`, outcome: "upstream_error"},
		"unauthorized, in plain":     {answer: sayStatus(401, "text/plain", "who are you?"), code: -32603, reason: "bad_upstream_response", message: " 401", outcome: "failed"},
		"unauthorized, in JSON":      {answer: sayStatus(401, jsonType, `{"error":"invalid_token"}`), code: -32603, reason: "bad_upstream_response", message: " 401", outcome: "failed"},
		"overloaded, in JSON":        {answer: sayStatus(529, jsonType, `{"error":{"type":"overloaded"}}`), code: -32603, reason: "bad_upstream_response", message: " 529", outcome: "failed"},
		"a gateway's page":           {answer: sayStatus(502, "text/html", "<html>"), code: -32603, reason: "bad_upstream_response", message: " 502", outcome: "failed"},
		"accepted, and no answer":    {answer: sayStatus(202, "", ""), code: -32603, reason: "bad_upstream_response", message: " 202", outcome: "failed"},
		"events with an error":       {answer: sayStatus(500, eventsType, doneEvent), code: -32603, reason: "bad_upstream_response", message: " 500", outcome: "failed"},
		"a request of the server's":  {answer: say(jsonType, `{"jsonrpc":"2.0","id":1,"method":"ping"}`), code: -32603, reason: "bad_upstream_response", message: " 200", outcome: "failed"},
		"redirect":                   {answer: sayStatus(307, "", ""), code: -32603, reason: "bad_upstream_response", outcome: "failed"},
		"rubbish":                    {answer: say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{`), code: -32603, reason: "bad_upstream_response", outcome: "failed"},
		"too large":                  {answer: say(jsonType, jsonAnswer(64<<10+1)), code: -32603, reason: "answer_too_large", outcome: "failed"},
		"broken off before anything": {answer: reset, code: -32603, reason: "upstream_reset", outcome: "failed"},
		"nothing in time":            {answer: after(time.Hour, reset), code: -31504, reason: "upstream_timeout", outcome: "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				access := new(bytes.Buffer)
				f := newRig(t, rigOptions{
					options: func(o *proxy.Options) {
						withRule(o)
						o.Limits.Answer = 64 << 10
						o.AccessLog = slog.New(slog.NewJSONHandler(access, nil))
					},
					endpoint: func(ep *proxy.Endpoint) { ep.Timeouts.Call = 2 * time.Minute },
				})
				f.servers[0].inject(after(time.Minute, c.answer))
				r := f.do(plainCalls["modern"](f, ""))
				synctest.Wait()
				if n := f.calls("tools/call"); n != 1 || r.status != http.StatusOK {
					t.Errorf("%d calls, status %d, want 1 and 200", n, r.status)
				}
				if c.body == "" {
					r.fails(t, http.StatusOK, c.code, c.reason, false)
					if string(r.message(t).ID) != "1" || !strings.Contains(r.body, c.message) {
						t.Errorf("got %s, want id 1 and %q", r.body, c.message)
					}
				} else if events := eventsIn(r.body); len(events) != 1 || events[0] != c.body {
					t.Errorf("got %q, want %q", events, c.body)
				}
				var record struct {
					Status  int
					Outcome string
				}
				if err := json.Unmarshal(access.Bytes(), &record); err != nil || record.Status != http.StatusOK || record.Outcome != c.outcome {
					t.Errorf("recorded %s, want outcome %s", access, c.outcome)
				}
			})
		})
	}
}

// An answer of any length is one event, and one that ends in the middle is none.
func TestLongAnswerIsOneEvent(t *testing.T) {
	answer := jsonAnswer(1 << 20)
	for name, c := range map[string]struct {
		limit    int64
		declared string // Content-Length, "" if none is sent
		whole    bool
	}{
		"whole":      {1 << 20, "", true},
		"broken off": {0, "1048577", false},
		"too large":  {1<<20 - 1, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{options: func(o *proxy.Options) {
					withRule(o)
					o.Limits.Answer = c.limit
				}})
				f.servers[0].inject(after(time.Minute, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					if c.declared != "" {
						w.Header().Set("Content-Length", c.declared)
					}
					return say(jsonType, answer)(w, r, body)
				}))
				resp := f.open(plainCalls["modern"](f, ""))
				defer resp.Body.Close()
				got, err := io.ReadAll(resp.Body)
				events := eventsIn(string(got))
				switch {
				case c.whole && (err != nil || len(events) != 1 || events[0] != answer):
					t.Errorf("%d bytes in %d events, %v", len(got), len(events), err)
				case !c.whole && (err == nil || bytes.HasSuffix(got, []byte("}\n\n"))):
					t.Errorf("%d bytes, %v: half an answer looks whole", len(got), err)
				}
			})
		})
	}
}

// Of an error that is too long to be read nothing can be said but that it was none.
func TestErrorTooLongToBeReadIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{options: withRule})
		f.servers[0].inject(after(time.Minute, sayStatus(400, jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"`+strings.Repeat("x", 256<<10)+`"}}`)))
		f.do(plainCalls["modern"](f, "")).fails(t, http.StatusOK, -32603, "bad_upstream_response", false)
	})
}

// While nothing was sent the call goes on to another upstream, open stream or not.
func TestCallMovesOnBehindTheEarlyStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{size: 8, options: withRule})
		lost := map[string]chan struct{}{}
		for _, s := range f.servers[:7] { // each takes two seconds of dialling
			lost[s.Name] = make(chan struct{})
		}
		f.network.mu.Lock()
		f.network.lost = lost
		f.network.mu.Unlock()
		began := time.Now()
		f.servers[7].inject(say(jsonType, doneJSON))
		resp := f.open(plainCalls["modern"](f, ""))
		defer resp.Body.Close()
		if opened := time.Since(began); opened != 10*time.Second {
			t.Errorf("opened after %v, want 10s", opened)
		}
		if seen, last := timeline(t, resp, began); last != doneJSON || seen[len(seen)-1] != "answer at 14s" {
			t.Errorf("got %v, %s", seen, last)
		}
	})
}

// A task is bound before its handle leaves, on an early stream too.
func TestTaskOnAnEarlyStreamIsBoundBeforeItsHandleLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f *rig
		var released, early int
		f = newRig(t, rigOptions{options: withRule, wrap: watchWrites(func(p []byte) {
			if bytes.Contains(p, []byte("t-1")) {
				released++
				if f.owner("t-1") == "" {
					early++
				}
			}
		})})
		f.servers[0].inject(after(time.Minute, say(jsonType, creations[1].body)))
		r := f.do(plainCalls["legacy"](f, ""))
		if m := r.message(t); m.Result == nil || m.Result.Task == nil || m.Result.Task.TaskID != "t-1" || released == 0 || early > 0 {
			t.Errorf("got %s, released %d times, %d of them before the binding", r.body, released, early)
		}
	})
}

// A client's departure means what it means without an early stream: the modern one's cancels at
// once, the legacy one's does not.
func TestDepartureFromAnEarlyStream(t *testing.T) {
	for era, call := range plainCalls {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{options: withRule})
				ended := make(chan time.Duration, 1)
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					began := time.Now()
					after(time.Minute, say(jsonType, creations[1].body))(w, r, body)
					ended <- time.Since(began)
					return true
				})
				ctx, leave := context.WithTimeout(t.Context(), 17*time.Second)
				defer leave()
				resp := f.open(call(f, `1`).WithContext(ctx))
				_, _ = io.ReadAll(resp.Body)
				resp.Body.Close()
				took := <-ended
				synctest.Wait()
				want, owner := 17*time.Second, ""
				if era == "legacy" {
					want, owner = time.Minute, "a"
				}
				if took != want || f.owner("t-1") != owner {
					t.Errorf("the call ended after %v, its task bound to %q, want %v and %q", took, f.owner("t-1"), want, owner)
				}
				if f.pool.Find("a").Silent() || f.pool.Find("a").DownFor() != 0 {
					t.Error("a client that left counts against the upstream")
				}
			})
		})
	}
}

// A client that takes nothing of the stream is given up.
func TestClientThatTakesNothingOfAnEarlyStreamIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{options: withRule})
		gone := make(chan time.Duration, 1)
		f.servers[0].inject(untilGone(gone))
		conn, err := f.network.dial(t.Context(), "tcp", "berth:80")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := plainCalls["modern"](f, "").Write(conn); err != nil {
			t.Fatal(err)
		}
		if took := <-gone; !onTime(took, 40*time.Second) {
			t.Errorf("given up after %v, want the 10s until the stream and 30s", took)
		}
	})
}
