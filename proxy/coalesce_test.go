package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/internal/realtest"
	"berth/proxy"
)

// A gate holds requests of one method back until it is opened.
type gate struct {
	method string
	open   chan struct{}
	passed atomic.Int64 // requests of the method that came
}

func newGate(method string) *gate { return &gate{method: method, open: make(chan struct{})} }

func (g *gate) fault(_ http.ResponseWriter, r *http.Request, body []byte) bool {
	if methodIn(body) == g.method {
		g.passed.Add(1)
		select {
		case <-g.open:
		case <-r.Context().Done():
		}
	}
	return false
}

// shut has the owner of the first candidate's tasks hold polls back.
func (f *rig) shut() *gate {
	g := newGate("tasks/get")
	f.servers[0].inject(g.fault)
	return g
}

// pollAs is a well-formed poll with a JSON-RPC id of its own.
func (f *rig) pollAs(ctx context.Context, rpcID, taskID string, header ...string) *http.Request {
	f.t.Helper()
	body := strings.Replace(modernMessage("tasks/get", byID(taskID)), `"id":1`, `"id":`+rpcID, 1)
	return f.request(ctx, http.MethodPost, body, append(modernHeader("tasks/get", taskID), header...)...)
}

// later collects answers to requests that are made at once.
type later struct {
	f       *rig
	running sync.WaitGroup
	mu      sync.Mutex // guards the field below
	replies map[string]reply
}

func (f *rig) later() *later { return &later{f: f, replies: map[string]reply{}} }

func (l *later) do(name string, r *http.Request) {
	l.running.Go(func() {
		got := l.f.do(r)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.replies[name] = got
	})
}

func (l *later) all() map[string]reply {
	l.running.Wait()
	return l.replies
}

// TestConcurrentPollsAreOneRequest: and each caller gets the answer under its own id,
// however it writes that, whichever way the upstream answers.
func TestConcurrentPollsAreOneRequest(t *testing.T) {
	for name, server := range map[string]func(*mcptest.Server){"JSON": nil, "events": func(s *mcptest.Server) { s.SSE = true }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{server: server})
				id := f.newTask(3600)
				g, polls := f.shut(), f.later()
				ids := []string{`0`, `-1.50e3`, `"a"`, `"\u0041\"é"`, `12345678901234567890123`, `1`, `"1"`, `"` + strings.Repeat("x", 1000) + `"`}
				for _, rpcID := range ids {
					polls.do(rpcID, f.pollAs(t.Context(), rpcID, id, "Traceparent", "00-"+fmt.Sprintf("%032d", len(rpcID))+"-0000000000000001-01"))
				}
				synctest.Wait()
				close(g.open)
				for rpcID, r := range polls.all() {
					if m := r.message(t); string(m.ID) != rpcID || m.Result == nil || m.Result.TaskID != id {
						t.Errorf("%.40s: got %d %.300s", rpcID, r.status, r.body)
					}
				}
				if n := f.calls("tasks/get"); n != 1 {
					t.Errorf("the upstream saw %d polls, want 1", n)
				}
				f.poll(id)
				if n := f.calls("tasks/get"); n != 2 {
					t.Errorf("after them the upstream saw %d polls, want 2", n)
				}
			})
		})
	}
}

// A body that begins with a byte order mark is one to each of those who share it as well.
func TestPollsShareAnAnswerAfterAByteOrderMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		id := f.newTask(3600)
		polls, open := f.later(), make(chan struct{})
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if methodIn(body) != "tasks/get" {
				return false
			}
			<-open
			return say(jsonType, mark+response(body, `"result":`+fmt.Sprintf(`{"resultType":"complete","taskId":%q,"status":"working"}`, id)))(w, r, body)
		})
		for _, rpcID := range []string{"1", `"two"`} {
			polls.do(rpcID, f.pollAs(t.Context(), rpcID, id))
		}
		synctest.Wait()
		close(open)
		for rpcID, r := range polls.all() {
			if !strings.Contains(r.body, `"id":`+rpcID+`,`) {
				t.Errorf("%s: got %q", rpcID, r.body)
			}
		}
	})
}

// TestPollRidesOnAStreamThatHasBegun: what stands before the response ends nothing.
func TestPollRidesOnAStreamThatHasBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		id := f.newTask(3600)
		polls, open := f.later(), make(chan struct{})
		f.servers[0].inject(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
			w.Header().Set("Content-Type", eventsType)
			_, _ = fmt.Fprint(w, "id: 1\ndata:\n\n: comment\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n")
			_ = http.NewResponseController(w).Flush()
			<-open
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"taskId\":%q,\"status\":\"working\"}}\n\n", id)
			return true
		})
		for i := range 3 {
			polls.do(fmt.Sprint(i), f.pollAs(t.Context(), "1", id))
			synctest.Wait()
		}
		close(open)
		for i, r := range polls.all() {
			if m := r.message(t); m.Result == nil || m.Result.TaskID != id {
				t.Errorf("%s: got %d %s", i, r.status, r.body)
			}
		}
		if n := f.calls("tasks/get"); n != 1 {
			t.Errorf("the upstream saw %d polls, want 1", n)
		}
	})
}

// TestPollsThatAskOtherwiseAreRequestsOfTheirOwn: an answer is shared among equals.
func TestPollsThatAskOtherwiseAreRequestsOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{options: trustLoopback})
		id := f.newTask(3600)
		g, polls := f.shut(), f.later()
		plain := modernMessage("tasks/get", byID(id))
		header := modernHeader("tasks/get", id)
		requests := map[string]*http.Request{
			"plain":               f.request(t.Context(), http.MethodPost, plain, header...),
			"with a token":        f.request(t.Context(), http.MethodPost, plain, append(header, "Authorization", "Bearer x")...),
			"with another token":  f.request(t.Context(), http.MethodPost, plain, append(header, "Authorization", "Bearer y")...),
			"with a cookie":       f.request(t.Context(), http.MethodPost, plain, append(header, "Cookie", "x=1")...),
			"with a key":          f.request(t.Context(), http.MethodPost, plain, append(header, "X-Api-Key", "x")...),
			"with a user":         f.request(t.Context(), http.MethodPost, plain, append(header, "X-Forwarded-User", "x")...),
			"another capability":  f.request(t.Context(), http.MethodPost, strings.Replace(plain, `"roots":{},`, ``, 1), header...),
			"another version":     f.legacyRequest(t.Context(), "", "tasks/get", byID(id)),
			"in another language": f.request(t.Context(), http.MethodPost, plain, append(header, "Accept-Language", "de")...),
		}
		for name, r := range requests {
			polls.do(name, r)
		}
		for name, value := range map[string]string{"X-Forwarded-For": "192.0.2.1", "Forwarded": "for=192.0.2.1", "X-Real-IP": "192.0.2.1"} {
			requests["from where "+name+" says"] = f.request(t.Context(), http.MethodPost, plain, append(header, name, value)...)
			polls.do(name, requests["from where "+name+" says"])
		}
		query := f.request(t.Context(), http.MethodPost, plain, header...)
		query.URL.RawQuery = "key=x"
		polls.do("with a query", query)
		batch := f.request(t.Context(), http.MethodPost, "["+message("tasks/get", byID(id))+"]")
		polls.do("in a batch", batch)
		synctest.Wait()
		if n := int(g.passed.Load()) + f.calls("tasks/get"); n == 0 || f.calls("tasks/get") != len(requests)+2 {
			t.Errorf("the upstream saw %d polls, want %d", f.calls("tasks/get"), len(requests)+2)
		}
		close(g.open)
		polls.all()
	})
}

// TestAnUpstreamsErrorIsSharedAndABreakIsNot: an error is an answer; who got none asks
// for itself, once.
func TestAnUpstreamsErrorIsSharedAndABreakIsNot(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`
	for name, c := range map[string]struct {
		fault faultFunc
		want  int
	}{
		"an error":       {say(jsonType, fmt.Sprintf(refusal, "1")), 1},
		"of another id":  {say(jsonType, fmt.Sprintf(refusal, "2")), 4},
		"another status": {status(400, fmt.Sprintf(refusal, "1")), 4},
		"another task":   {say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"taskId":"x","status":"working"}}`), 4},
		"a long answer":  {say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"x":"`+strings.Repeat("x", 300<<10)+`"}}`), 4},
		"a break":        {reset, 8}, // each twice: a poll may be sent again
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{})
				id := f.newTask(3600)
				g, polls := newGate("tasks/get"), f.later()
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					return g.fault(w, r, body) || c.fault(w, r, body)
				})
				for i := range 4 {
					polls.do(fmt.Sprint(i), f.pollAs(t.Context(), "1", id))
				}
				synctest.Wait()
				close(g.open)
				polls.all()
				if n := f.calls("tasks/get"); n != c.want {
					t.Errorf("the upstream saw %d polls, want %d", n, c.want)
				}
			})
		})
	}
}

// TestCoalescedPollIsRecordedAsSuch: nobody was asked for it.
func TestCoalescedPollIsRecordedAsSuch(t *testing.T) {
	b := start(t, setup{endpoint: func(ep *proxy.Endpoint) { ep.Coalesce = 5 * time.Second }})
	id := b.makeTask()
	b.modern("tasks/get", id, byID(id))
	realtest.Eventually(t, "two records", func() bool { return strings.Count(b.access.String(), "\n") == 2 })
	b.access.take(t)
	b.modern("tasks/get", id, byID(id))
	if r := b.record(); r["source"] != "coalesced" || r["upstream"] != nil || r["status"] != 200.0 || r["outcome"] != "ok" {
		t.Errorf("got %v", r)
	}
}
