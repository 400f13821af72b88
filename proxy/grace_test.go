package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade"
)

const grace = 100 * time.Millisecond

// withGrace is a rule whose clients get a handle unless the call is refused.
func withGrace(r *upgrade.Rule) { r.RefusalGrace = grace }

// withoutGrace is a rule by which all that comes is the task's.
func withoutGrace(r *upgrade.Rule) { r.RefusalGrace = 0 }

// sayRefusal answers with this status and type; ID in the body stands for the request's id.
func sayRefusal(status int, contentType, body string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, request []byte) bool {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="x"`)
		w.Header().Set("Retry-After", "7")
		return sayStatus(status, contentType, withID(body, request))(w, r, request)
	}
}

// inParts answers with this status at once, and with one part of the body after another.
// length is how long it says that the body is; 0: it does not say.
func inParts(status, length int, pause time.Duration, parts ...string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("WWW-Authenticate", "Bearer")
		if length > 0 {
			w.Header().Set("Content-Length", strconv.Itoa(length))
		}
		w.WriteHeader(status)
		for _, part := range parts {
			_, _ = io.WriteString(w, part)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
			}
		}
		return true
	}
}

func errorUnder(id, code string) string {
	return `{ "jsonrpc":"2.0", "id":` + id + `,"error":{"code":` + code + `, "message":"no","data":{"x":1}}}`
}

func eventOf(message string) string { return "event: message\ndata: " + message + "\n\n" }

// judgements are answers of an upstream, and whether they refuse the call.
var judgements = map[string]struct {
	status            int
	contentType, body string
	refuses           bool
}{
	"401":                         {401, "text/plain", "who are you?", true},
	"403":                         {403, "application/problem+json", `{"title":"no"}`, true},
	"400 with an error":           {400, jsonType, errorUnder("ID", "-32020"), true},
	"400 that names no request":   {400, jsonType, errorUnder("null", "-32600"), true},
	"404 with an error":           {404, jsonType, errorUnder("ID", "-32601"), true},
	"413":                         {413, "text/plain", "too large", true},
	"422 with a code of its own":  {422, jsonType, errorUnder("ID", "-32050"), true},
	"429":                         {429, jsonType, errorUnder("ID", "-32000"), true},
	"parse error":                 {200, jsonType, errorUnder("ID", "-32700"), true},
	"invalid request":             {200, jsonType, errorUnder("ID", "-32600"), true},
	"unknown tool":                {200, jsonType, errorUnder("ID", "-32601"), true},
	"bad arguments":               {200, jsonType, errorUnder("ID", "-32602"), true},
	"after a byte order mark":     {200, jsonType, mark + errorUnder("ID", "-32602"), true},
	"header mismatch":             {200, jsonType, errorUnder("ID", "-32020"), true},
	"missing capability":          {200, jsonType, errorUnder("ID", "-32021"), true},
	"unknown version":             {200, jsonType, errorUnder("ID", "-32022"), true},
	"bad arguments, on a stream":  {200, eventsType, eventOf(errorUnder("ID", "-32602")), true},
	"the same after a comment":    {200, eventsType, ": hi\n\nid: 0\ndata: \n\n" + eventOf(errorUnder("ID", "-32602")), true},
	"408":                         {408, jsonType, errorUnder("ID", "-32602"), false},
	"500":                         {500, jsonType, errorUnder("ID", "-32602"), false},
	"503":                         {503, "text/plain", "away", false},
	"a redirect":                  {307, "text/plain", "", false},
	"internal error":              {200, jsonType, errorUnder("ID", "-32603"), false},
	"the tool's own code":         {200, jsonType, errorUnder("ID", "-32050"), false},
	"a tool that failed":          {200, jsonType, `{"jsonrpc":"2.0","id":ID,"result":{"content":[],"isError":true}}`, false},
	"a result":                    {200, jsonType, resultUnder("ID"), false},
	"a question":                  {200, jsonType, `{"jsonrpc":"2.0","id":ID,"result":` + asksForInput + `}`, false},
	"a result, on a stream":       {200, eventsType, eventOf(resultUnder("ID")), false},
	"another's refusal":           {200, jsonType, errorUnder("99", "-32602"), false},
	"another's, on a stream":      {200, eventsType, eventOf(errorUnder("99", "-32602")), false},
	"rubbish":                     {200, "text/html", "<html>", false},
	"a refusal after a beginning": {200, eventsType, eventOf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`) + eventOf(errorUnder("ID", "-32602")), false},
}

// What the upstream refuses at once is the answer, as it came, and leaves no task; all else
// is the task's, and its client has the handle at once.
func TestRefusalWithinTheGracePassesAsItCame(t *testing.T) {
	for name, c := range judgements {
		for _, header := range [][]string{nil, {key, "k"}} {
			t.Run(name+strings.Join(header, " "), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newUpgraded(t, rigOptions{}, withGrace)
					f.answers(sayRefusal(c.status, c.contentType, c.body))
					began := time.Now()
					r := f.callTool(header...)
					if took := time.Since(began); took != 0 && !(c.refuses && header != nil && took == time.Millisecond) { // in which its key is freed
						t.Errorf("took %v", took)
					}
					if !c.refuses {
						f.taskOf(r)
						return
					}
					want := strings.ReplaceAll(c.body, "ID", "1")
					if i := strings.Index(want, "event:"); i >= 0 {
						want = want[i:] // what stands before its message says nothing
					}
					if r.status != c.status || r.body != want || r.header.Get("Content-Type") != c.contentType {
						t.Errorf("got %d %s %q, want %d %s %q", r.status, r.header.Get("Content-Type"), r.body, c.status, c.contentType, want)
					}
					if r.header.Get("WWW-Authenticate") == "" || r.header.Get("Retry-After") != "7" {
						t.Errorf("headers %v", r.header)
					}
					f.leavesNothing()
				})
			})
		}
	}
}

// So it is for a client that asked for the task, in its session or in none.
func TestRefusalOfACoreTaskPassesUnderTheClientsID(t *testing.T) {
	for name, c := range judgements {
		if c.status == 404 || c.status == 429 { // 404 means the session there
			continue
		}
		for _, header := range [][]string{nil, {key, "k"}} {
			t.Run(name+strings.Join(header, " "), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newUpgraded(t, rigOptions{}, withGrace)
					f.answers(sayRefusal(c.status, c.contentType, c.body))
					session := f.initialize()
					r := f.do(f.request(t.Context(), http.MethodPost, message("tools/call", work), append(legacyHeader(session), header...)...))
					if !c.refuses {
						if m := r.message(t); m.Result == nil || m.Result.Task == nil {
							t.Errorf("no task: %v", r)
						}
						return
					}
					want := strings.ReplaceAll(c.body, "ID", "1")
					if r.status != c.status || !strings.HasSuffix(strings.TrimSpace(want), strings.TrimPrefix(strings.TrimSpace(r.body), "data: ")) {
						t.Errorf("got %d %q, want %d %q", r.status, r.body, c.status, want)
					}
					if r.header.Get("WWW-Authenticate") == "" {
						t.Errorf("headers %v", r.header)
					}
					f.leavesNothing()
					if posted := f.seen.of("notifications/cancelled"); len(posted) != 0 {
						t.Errorf("the call was cancelled: %v", posted)
					}
				})
			})
		}
	}
}

// A 400 in a session may be about that: while berth asks, the grace's clock stands.
func TestRefusalIsNotLateForWhatBerthAsksAboutIt(t *testing.T) {
	for name, wait := range map[string]time.Duration{"": 0, "a second": time.Second, "longer than it asks": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, withGrace)
				session := f.initialize()
				f.serves(map[string]faultFunc{
					"ping":       after(wait, sayResult(`{}`)),
					"tools/call": sayRefusal(400, jsonType, errorUnder("ID", "-32602")),
				})
				if r := f.legacy(session, "tools/call", work); r.status != 400 || r.code() != -32602 {
					t.Errorf("got %v, want the refusal", r)
				}
				f.leavesNothing()
			})
		})
	}
}

// The status of a refusal decides; its body is waited for, and what there is of it passes.
func TestRefusalsBodyMayBeLate(t *testing.T) {
	for name, c := range map[string]struct {
		length int
		pause  time.Duration
		parts  []string
		want   string
	}{
		"in two parts":          {4, time.Second, []string{"no", "pe"}, "nope"},
		"it breaks off":         {4, time.Second, []string{"no"}, "no"},
		"it stalls":             {4, time.Hour, []string{"no", "pe"}, "no"},
		"nothing of it":         {4, time.Hour, nil, ""},
		"an error, cut short":   {90, time.Hour, []string{errorUnder("1", "-32602")[:60]}, errorUnder("1", "-32602")[:60]},
		"one of unknown length": {0, time.Hour, []string{"no", "pe"}, "no"},
	} {
		for _, status := range []int{401, 403, 400} {
			for _, inSession := range []bool{false, true} {
				t.Run(fmt.Sprint(name, status, inSession), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						f, session := newUpgraded(t, rigOptions{}, withGrace), ""
						if inSession {
							session = f.initialize()
						}
						f.serves(map[string]faultFunc{"tools/call": inParts(status, c.length, c.pause, c.parts...)})
						header := legacyHeader(session)
						r := f.do(f.request(t.Context(), http.MethodPost, message("tools/call", work), append(header, key, "k")...))
						if r.status != status || r.body != c.want || r.header.Get("WWW-Authenticate") != "Bearer" {
							t.Errorf("got %d %q %v, want %d %q", r.status, r.body, r.header, status, c.want)
						}
						f.leavesNothing()
					})
				})
			}
		}
	}
}

// What turns out to be no refusal has the rest of the grace: the call goes to another
// upstream, since that one does not speak its era.
func TestGraceGoesOnWhereNothingIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{size: 2}, withGrace)
		f.pool.Upstreams()[0].Draining = true
		f.modern("tools/list", "", "") // the other shows that it speaks the era
		f.pool.Upstreams()[0].Draining = false
		old := strings.Replace(errorUnder("null", "-32022"), `{"x":1}`, `{"supported":["2025-11-25"]}`, 1)
		f.servers[0].inject(onMethod("tools/call", inParts(400, len(old), time.Second, old[:9], old[9:])))
		f.servers[1].inject(onMethod("tools/call", after(time.Minute, sayResult(done))))
		began := time.Now()
		f.made()
		if took := time.Since(began); took != time.Second+grace {
			t.Errorf("the handle came after %v", took)
		}
	})
}

// The handle comes at the end of the grace, at the first message of a stream, or a quarter
// of the grace after one has begun; what is refused later fails the task.
func TestHandleComesAtTheEndOfTheGrace(t *testing.T) {
	begins := func(rest ...string) faultFunc {
		return streams(func(ctx context.Context, write func(string)) {
			write(": hi\n\n")
			for _, part := range rest {
				select {
				case <-time.After(10 * time.Millisecond):
					write(part)
				case <-ctx.Done():
				}
			}
			<-ctx.Done()
		})
	}
	log := eventOf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
	for name, c := range map[string]struct {
		answer faultFunc
		change func(*upgrade.Rule)
		want   time.Duration
	}{
		"silence":                {sayNothing, nil, grace},
		"off":                    {sayNothing, func(r *upgrade.Rule) { r.RefusalGrace = 0 }, 0},
		"longer":                 {sayNothing, func(r *upgrade.Rule) { r.RefusalGrace = 2 * time.Second }, 2 * time.Second},
		"shorter than after":     {sayNothing, func(r *upgrade.Rule) { r.After = time.Second }, time.Second},
		"longer than after":      {sayNothing, func(r *upgrade.Rule) { r.After = 30 * time.Millisecond }, grace},
		"a late refusal":         {after(time.Second, sayRefusal(401, "text/plain", "")), nil, grace},
		"a stream":               {begins(), nil, grace / 4},
		"a stream that says":     {begins(log), nil, 10 * time.Millisecond},
		"a stream's comments":    {begins(": x\n\n", ": y\n\n", ": z\n\n"), nil, grace / 4},
		"half an answer":         {streams(func(ctx context.Context, write func(string)) { write(`data: {"jso`); <-ctx.Done() }), nil, grace / 4},
		"a result after `after`": {after(50*time.Millisecond, sayResult(done)), func(r *upgrade.Rule) { r.After = 30 * time.Millisecond }, 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) {
					withGrace(r)
					if c.change != nil {
						c.change(r)
					}
				})
				f.answers(c.answer)
				began := time.Now()
				id := f.made()
				if took := time.Since(began); took != c.want {
					t.Errorf("the handle came after %v, want %v", took, c.want)
				}
				if name == "a late refusal" {
					f.reaches(id, "failed")
				}
			})
		})
	}
}

// A call that waits for its turn has its handle at once, and is refused as a task then.
func TestCallThatQueuesHasItsHandleAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) { withGrace(r); r.Concurrency = 1 })
		release := make(chan struct{})
		f.answers(until(release, sayResult(done)), sayRefusal(401, "text/plain", ""))
		first := f.made()
		began := time.Now()
		second := f.made()
		if took := time.Since(began); took != 0 {
			t.Errorf("the handle came after %v", took)
		}
		close(release)
		f.reaches(first, "completed")
		f.reaches(second, "failed")
	})
}

// A client that leaves in the grace has no task; one whose call others may ask for has.
func TestClientThatLeavesInTheGrace(t *testing.T) {
	for name, header := range map[string][]string{"nobody knows": nil, "a key": {key, "k"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, withGrace)
				f.answers(after(time.Second, sayResult(done)))
				ctx, hangUp := context.WithTimeout(t.Context(), grace/2)
				defer hangUp()
				if resp, err := f.client.Do(f.modernRequest(ctx, "tools/call", "work", `"name":"work","arguments":{}`, header...)); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				if header == nil {
					f.eventually("the upstream's hang-up", func() bool { return f.servers[0].Hangups("tools/call") == 1 })
					f.leavesNothing()
					return
				}
				synctest.Wait()
				f.reaches(f.made(header...), "completed")
				if n := len(f.seen.of("tools/call")); n != 1 {
					t.Errorf("the tool was called %d times", n)
				}
			})
		})
	}
}

// A repetition that comes while the first call may yet be refused is told of no task that is
// gone in a moment: it makes an attempt of its own then. So does one that comes later.
func TestRepetitionInTheGraceIsRefusedByItself(t *testing.T) {
	for _, wait := range []time.Duration{grace / 2, grace - time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			store := openStore(t, "memory:")
			f := newUpgraded(t, rigOptions{store: store}, withGrace)
			g := newUpgraded(t, rigOptions{store: store}, withGrace)
			for _, f := range []*upgraded{f, g} {
				f.answers(after(wait, sayRefusal(401, "text/plain", "no")), sayResult(done))
			}
			first := make(chan reply)
			go func() { first <- f.callTool(key, "k") }()
			time.Sleep(wait / 2)
			began := time.Now()
			second := g.callTool(key, "k")
			if r := <-first; r.status != 401 || second.status != 401 {
				t.Errorf("got %v, and %v", r, second)
			}
			if took := time.Since(began); took > 2*grace+wait {
				t.Errorf("the repetition took %v", took)
			}
			f.reaches(f.made(key, "k"), "completed")
		})
	}
}

// Once a refusal is told, its key is free: for the same call, and for another.
func TestKeyOfARefusedCallIsFreeOnceThatIsTold(t *testing.T) {
	longGrace := func(r *upgrade.Rule) { r.RefusalGrace = 10 * time.Second } // a busy machine takes its time
	f := newUpgraded(t, rigOptions{store: openStore(t, "file:"+filepath.Join(t.TempDir(), "berth.db"))}, longGrace)
	f.answers(sayRefusal(401, "text/plain", "no"))
	for i := range 20 {
		r := f.modern("tools/call", "work", fmt.Sprintf(`"name":"work","arguments":{"n":%d}`, i/2), key, "k")
		if r.status != 401 {
			t.Fatalf("call %d: got %v, want its own refusal", i, r)
		}
	}
	f.leavesNothing()
}

// Where the first call is not refused its repetitions get its task, as soon as it does.
func TestRepetitionInTheGraceGetsTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, withGrace)
		f.answers(after(time.Second, sayResult(done)))
		first := make(chan string)
		go func() { first <- f.made(key, "k") }()
		time.Sleep(grace / 2)
		began := time.Now()
		second := f.made(key, "k")
		if took := time.Since(began); took < grace/2 || took > grace {
			t.Errorf("the repetition has its handle after %v", took)
		}
		if id := <-first; id != second {
			t.Errorf("got %s and %s", id, second)
		}
		if n := len(f.seen.of("tools/call")); n != 1 {
			t.Errorf("the tool was called %d times", n)
		}
	})
}

// A list does not tell of a task that may be gone in a moment.
func TestListDoesNotTellOfATaskInItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{principals: true}, withGrace)
		f.answers(sayNothing)
		list := func() string {
			header := []string{"MCP-Protocol-Version", "2025-11-25", userHeader, "alice"}
			return f.do(f.request(t.Context(), http.MethodPost, message("tasks/list", ""), header...)).body
		}
		handle := make(chan string)
		go func() { handle <- f.made(userHeader, "alice") }()
		time.Sleep(grace / 2)
		if strings.Contains(list(), "taskId") {
			t.Errorf("listed in its grace: %s", list())
		}
		id := <-handle
		synctest.Wait()
		if !strings.Contains(list(), id) {
			t.Errorf("not listed: %s", list())
		}
	})
}

// A call that was waited on is resumed like any other: the ids of its events are kept, that
// of an event without a message too.
func TestStreamThatBeganInTheGraceIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, withGrace)
		session := f.initialize()
		resumed, call := make(chan string, 1), []byte(nil)
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			switch {
			case methodIn(body) == "tools/call":
				call = body
				return say(eventsType, "id: first\ndata: \n\n")(w, r, body)
			case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != "":
				resumed <- r.Header.Get("Last-Event-ID")
				return sayEvents(resultUnder("ID"))(w, r, call)
			}
			return false
		})
		if r := f.legacy(session, "tools/call", work); r.message(t).Result == nil {
			t.Fatalf("no task: %v", r)
		}
		if id := <-resumed; id != "first" {
			t.Errorf("resumed from %q", id)
		}
	})
}
