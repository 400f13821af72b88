package proxy_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade"
)

// waits is a rule whose clients wait for the answer first.
func waits(r *upgrade.Rule) { r.After = 10 * time.Second }

const asksForInput = `{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"form","message":"?"}}},"requestState":"s"}`

// What comes in time is the answer, as it came, and no task is left.
func TestAnswerInTimePassesAsItCame(t *testing.T) {
	stream := func(data string) string { return ": hi\r\n\r\nid: 7\nevent: message\ndata: " + data + "\n\n" }
	result := `{ "jsonrpc":"2.0", "id":1,"result":` + done + `}`
	failure := `{"jsonrpc":"2.0","id":1,"error":{"code":-32099, "message":"no"}}`
	asking := `{"jsonrpc":"2.0","id":1,"result":` + asksForInput + `}`
	for name, c := range map[string]struct {
		status            int
		contentType, body string
	}{
		"result":                      {200, jsonType, result},
		"error":                       {200, jsonType, failure},
		"error with a status":         {400, jsonType, failure},
		"input_required":              {200, jsonType, asking},
		"result, event":               {200, eventsType, stream(result)},
		"error, event":                {200, eventsType, stream(failure)},
		"input_required, event":       {200, eventsType, stream(asking)},
		"a challenge to authorise":    {401, "text/plain", "who are you?"},
		"a gateway's page":            {502, "text/html", "<html>"},
		"of a type of its own":        {403, "application/problem+json", `{"title":"no"}`},
		"larger than a task's may be": {200, jsonType, `{"jsonrpc":"2.0","id":1,"result":{"content":"` + strings.Repeat("x", 10<<20) + `"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, waits)
				f.answers(after(9*time.Second, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					w.Header().Set("WWW-Authenticate", "Bearer x")
					w.Header().Set("X-Own", "1")
					return sayStatus(c.status, c.contentType, c.body)(w, r, body)
				}))
				r := f.callTool()
				if r.status != c.status || r.body != c.body || r.header.Get("Content-Type") != c.contentType {
					t.Errorf("got %d %s %.200q, want %d %s %.200q", r.status, r.header.Get("Content-Type"), r.body, c.status, c.contentType, c.body)
				}
				if r.header.Get("WWW-Authenticate") != "Bearer x" || r.header.Get("X-Own") != "1" {
					t.Errorf("headers %v", r.header)
				}
				f.leavesNothing()
			})
		})
	}
}

// leavesNothing: no list knows of a task of this process, and no call is held.
func (f *upgraded) leavesNothing() {
	f.t.Helper()
	f.eventually("the end of what was held", func() bool { return f.tasks.Held() == 0 })
	var holders []string
	f.eventually("the lease", func() (known bool) {
		holders, _ = f.store.Members(f.t.Context(), "upgrade:holders")
		return len(holders) == 1
	})
	// A creation whose request has ended meanwhile is taken back by the runner, in its own time.
	f.eventually("the end of what is listed", func() bool {
		left, err := f.store.Members(f.t.Context(), "upgrade:holder:{"+holders[0]+"}:tasks")
		return err == nil && len(left) == 0
	})
}

// An answer that takes longer is the task's.
func TestLateAnswerIsTheTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, waits)
		f.answers(after(11*time.Second, sayResult(done)))
		began := time.Now()
		id := f.made()
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the handle came after %v", took)
		}
		if v := f.look(id); v.Status != "working" {
			t.Errorf("got %+v", v)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if v := f.look(id); v.Status != "completed" || string(v.Result) != done {
			t.Errorf("got %+v", v)
		}
		if n := len(f.seen.of("tools/call")); n != 1 {
			t.Errorf("the tool was called %d times", n)
		}
	})
}

// Progress bears the client's own token until the handle, and none reaches a client that
// gave none; after it, it is the task's message.
func TestProgressIsTheClientsUntilTheHandle(t *testing.T) {
	for _, token := range []string{"", `"mine"`} {
		t.Run(token, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, waits)
				f.answers(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					token := f.seen.of("tools/call")[0].msg.Params.Meta["progressToken"]
					w.Header().Set("Content-Type", eventsType)
					tell := func(wait time.Duration, message string) {
						time.Sleep(wait)
						_, _ = io.WriteString(w, "data: "+message+"\n\n")
						w.(http.Flusher).Flush()
					}
					tell(0, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"log"}}`)
					tell(time.Second, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+string(token)+`,"progress":1,"total":3}}`)
					tell(10*time.Second, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"late log"}}`)
					tell(0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"another","progress":9}}`)
					tell(0, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+string(token)+`,"progress":2,"total":3,"message":"late"}}`)
					tell(time.Second, response(body, `"result":`+done))
					return true
				})
				params := `"name":"work","arguments":{}`
				message := modernMessage("tools/call", params)
				if token != "" {
					message = strings.Replace(message, `"_meta":{`, `"_meta":{"progressToken":`+token+`,`, 1)
				}
				r := f.do(f.request(t.Context(), http.MethodPost, message, modernHeader("tools/call", "work")...))
				events := eventsIn(r.body)
				want := []string{`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"log"}}`}
				if token != "" {
					want = append(want, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1,"total":3}}`)
				}
				if len(events) != len(want)+1 || strings.Join(events[:len(want)], "\n") != strings.Join(want, "\n") {
					t.Fatalf("got %q, want %q and the handle", events, want)
				}
				id := f.taskOf(r)
				time.Sleep(1500 * time.Millisecond)
				synctest.Wait()
				if v := f.look(id); v.StatusMessage != "2/3: late" {
					t.Errorf("got %+v", v)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if v := f.look(id); v.Status != "completed" || strings.Contains(string(v.Result), "log") {
					t.Errorf("got %+v", v)
				}
			})
		})
	}
}

// A client that hangs up while it waits cancels the call, and leaves no task.
func TestHangUpWhileWaitingCancelsTheCall(t *testing.T) {
	for name, first := range map[string]faultFunc{
		"JSON": sayNothing,
		"events": func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			w.Header().Set("Content-Type", eventsType)
			_, _ = io.WriteString(w, ": hi\n\n")
			w.(http.Flusher).Flush()
			return sayNothing(w, r, body)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, waits)
				f.answers(first)
				ctx, hangUp := context.WithTimeout(t.Context(), 5*time.Second)
				defer hangUp()
				resp, err := f.client.Do(f.modernRequest(ctx, "tools/call", "work", `"name":"work"`))
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				f.eventually("the upstream's hang-up", func() bool { return f.servers[0].Hangups("tools/call") == 1 })
				f.leavesNothing()
			})
		})
	}
}

// Answers that come just as the time is over are answers or tasks, never neither.
func TestAnswerAndTimerAtOnce(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			f := newUpgraded(t, rigOptions{}, waits)
			f.answers(after(10*time.Second, sayResult(done)))
			r := f.callTool()
			m := r.message(t)
			switch {
			case r.status != http.StatusOK || m.Result == nil:
				t.Fatalf("got %v", r)
			case m.Result.ResultType == "complete":
				f.leavesNothing()
			default:
				if v := f.reaches(f.taskOf(r), "completed"); string(v.Result) != done {
					t.Errorf("got %+v", v)
				}
			}
			if n := len(f.seen.of("tools/call")); n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
		})
	}
}

// While nothing was sent the call goes to another upstream, and fails as a plain one.
func TestWaitingCallFailsAsAPlainOne(t *testing.T) {
	t.Run("one is down", func(t *testing.T) {
		f := newUpgraded(t, rigOptions{size: 2}, waits)
		f.servers[0].kill()
		f.servers[1].inject(say(jsonType, doneJSON))
		if r := f.callTool(); r.body != doneJSON {
			t.Errorf("got %v", r)
		}
		f.leavesNothing()
	})
	t.Run("all are down", func(t *testing.T) {
		f := newUpgraded(t, rigOptions{size: 2}, waits)
		f.servers[0].kill()
		f.servers[1].kill()
		f.callTool().fails(t, http.StatusServiceUnavailable, -31503, "no_upstream", true)
		f.leavesNothing()
	})
	t.Run("it breaks off", func(t *testing.T) {
		f := newUpgraded(t, rigOptions{size: 2}, waits)
		f.answers(reset)
		f.callTool().fails(t, http.StatusBadGateway, -32603, "upstream_reset", false)
		if n := len(f.seen.of("tools/call")) + f.servers[1].Calls("tools/call"); n != 1 {
			t.Errorf("it was sent %d times", n)
		}
		f.leavesNothing()
	})
	t.Run("a stream without a response", func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, waits)
		f.answers(say(eventsType, ""))
		f.callTool().fails(t, http.StatusBadGateway, -32603, "bad_upstream_response", false)
		f.leavesNothing()
	})
	t.Run("a stream that breaks off", func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, waits)
		f.answers(breakAfter(progressEvent+logEvent, false))
		r := f.callTool()
		if _, last, _ := strings.Cut(r.body, logEvent); r.status != http.StatusOK || !strings.Contains(last, `"upstream_reset"`) {
			t.Errorf("got %v, want the event and an error after it", r)
		}
		f.leavesNothing()
	})
}

// A berth that ends gives the client that waits its answer, or an end of the task.
func TestDrainWhileAClientWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, waits)
		f.answers(after(5*time.Second, sayResult(done)), sayNothing)
		replies := make(chan reply, 1)
		go func() { replies <- f.callTool() }()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		f.tasks.Drain(ctx)
		if r := <-replies; r.message(t).Result == nil || r.message(t).Result.ResultType != "complete" {
			t.Errorf("got %v", r)
		}
		f.callTool().fails(t, http.StatusServiceUnavailable, -31503, "draining", true)
	})
}
