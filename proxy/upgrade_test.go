package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/proxy"
	"berth/upgrade"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// counted opens a store in memory that counts what it is asked.
func counted(t *testing.T) (store *storage.Store, operations func() uint64) {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	store, err := storage.Open("memory:", storage.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store, func() (n uint64) {
		var all metricdata.ResourceMetrics
		if err := reader.Collect(context.Background(), &all); err != nil {
			t.Fatal(err)
		}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				if h, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Name == "berth.store.operation.duration" {
					for _, point := range h.DataPoints {
						n += point.Count
					}
				}
			}
		}
		return n
	}
}

// What is refused is refused in the order that clients rely on, and without a look at the
// store.
func TestRefusalsAboutTasksTakeNoLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, operations := counted(t)
		f := newUpgraded(t, rigOptions{store: store}, nil)
		f.answers(sayNothing)
		id := f.made()
		synctest.Wait()
		before := operations()
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			undeclared := message(method, byID(id)+`,"inputResponses":{},`+undeclaredMeta)
			for name, c := range map[string]struct {
				body         string
				header       []string
				status, code int
			}{
				"another name in the header":                        {modernMessage(method, byID(id)), modernHeader(method, "other"), 400, -32020},
				"another name in the header, without the extension": {undeclared, modernHeader(method, "other"), 400, -32020},
				"another method in the header":                      {modernMessage(method, byID(id)), modernHeader("tasks/list", id), 400, -32020},
				"without the extension":                             {undeclared, modernHeader(method, id), 400, -32021},
			} {
				r := f.do(f.request(t.Context(), http.MethodPost, c.body, c.header...))
				if m := r.message(t); r.status != c.status || m.Error == nil || m.Error.Code != c.code {
					t.Errorf("%s, %s: got %v, want %d, %d", method, name, r, c.status, c.code)
				}
				if c.code == -32021 && !strings.Contains(r.body, `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`) {
					t.Errorf("%s: does not say what is required: %v", method, r)
				}
			}
			for name, id := range map[string]string{
				"empty": `""`, "a number": `7`, "257 bytes": `"` + strings.Repeat("T", 257) + `"`, "10 kB": `"` + strings.Repeat("T", 10_000) + `"`,
			} {
				r := f.do(f.request(t.Context(), http.MethodPost, modernMessage(method, `"taskId":`+id+`,"inputResponses":{}`), modernHeader(method, "")...))
				if m := r.message(t); r.status != http.StatusOK || m.Error == nil || m.Error.Code != -32602 {
					t.Errorf("%s, %s: got %v", method, name, r)
				}
			}
		}
		for _, method := range []string{"tasks/result", "tasks/list"} {
			for _, id := range []string{id, ""} {
				params := ""
				if id != "" {
					params = byID(id)
				}
				r := f.do(f.request(t.Context(), http.MethodPost, modernMessage(method, params), modernHeader(method, id)...))
				if m := r.message(t); r.status != http.StatusNotFound || m.Error == nil || m.Error.Code != -32601 {
					t.Errorf("%s of %q: got %v", method, id, r)
				}
			}
		}
		if n := operations() - before; n != 0 {
			t.Errorf("the store was asked %d times", n)
		}
		if n := len(f.seen.all()); n != 1 {
			t.Errorf("%d requests reached the upstream, want the call alone", n)
		}
	})
}

// berth's own ids are good whatever length of others' is looked up.
func TestOwnIDsAreGoodUnderAShortLimit(t *testing.T) {
	f := newUpgraded(t, rigOptions{options: func(o *proxy.Options) { o.Limits.TaskID = 16 }}, nil)
	f.answers(sayResult(done))
	f.reaches(f.made(), "completed")
}

// Another's task looks like none at all.
func TestAnothersTaskIsUnknown(t *testing.T) {
	f := newUpgraded(t, rigOptions{principals: true}, nil)
	f.answers(sayNothing)
	id, gone := f.made(userHeader, "alice"), f.made(userHeader, "alice")
	f.modern("tasks/cancel", gone, byID(gone), userHeader, "alice")
	f.eventually("one held call", func() bool { return f.tasks.Held() == 1 })
	if err := f.store.Delete(t.Context(), "upgrade:{"+gone+"}"); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		var told []string
		for _, id := range []string{id, gone} {
			told = append(told, f.modern(method, id, byID(id)+`,"inputResponses":{}`, userHeader, "bob").String())
		}
		if told[0] != told[1] || !strings.Contains(told[0], "-32602") {
			t.Errorf("%s: another's is told of by %s, none by %s", method, told[0], told[1])
		}
	}
	if v := f.look(id, userHeader, "alice"); v.Status != "working" {
		t.Errorf("the task is %s", v.Status)
	}
}

// How a call ends says how its task does.
func TestEndOfATask(t *testing.T) {
	const toolFailed = `{"content":[{"type":"text","text":"no"}],"isError":true}`
	const failure = `{"code":-32099,"message":"broke", "data":{"x": 1e2}}`
	for name, c := range map[string]struct {
		answer       faultFunc
		status, want string
	}{
		"isError":          {sayResult(toolFailed), "completed", `{"resultType":"complete",` + toolFailed[1:]},
		"a JSON-RPC error": {sayError(failure), "failed", failure},
		"error with 429":   {sayStatus(429, jsonType, `{"jsonrpc":"2.0","id":1,"error":`+failure+`}`), "failed", failure},
		"401":              {sayStatus(401, "text/plain", "who?"), "failed", "the server answered 401 Unauthorized"},
		"a reset":          {reset, "failed", `"reason":"upstream_reset"`},
		"rubbish":          {say(jsonType, "{"), "failed", `"reason":"bad_upstream_response"`},
		"rubbish, events":  {say(eventsType, "data: {\n\n"), "failed", `"reason":"bad_upstream_response"`},
		"nothing":          {say(jsonType, ""), "failed", `"reason":"bad_upstream_response"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newUpgraded(t, rigOptions{}, withoutGrace)
			f.answers(c.answer)
			id := f.made()
			v := f.reaches(id, c.status)
			if got := string(v.Result) + string(v.Error); !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			r := f.modern("tasks/cancel", id, byID(id))
			if want := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{` + berthsInfo + `}}}`; r.body != want {
				t.Errorf("cancelled after its end: %s, want %s", r.body, want)
			}
			again := f.look(id)
			if again.Status != c.status || again.CreatedAt != v.CreatedAt || again.TTLMs != 3_600_000 || again.LastUpdatedAt != v.LastUpdatedAt {
				t.Errorf("after the cancel: %+v, before it %+v", again, v)
			}
		})
	}
}

// A task that has been working for long was made when it was made.
func TestTimesOfATaskAreNotRecomputed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.answers(sayResult(asksForInput), sayResult(done))
		id := f.made()
		first := f.reaches(id, "input_required")
		time.Sleep(50 * time.Minute)
		f.answer(id, `{"k":{"action":"decline"}}`)
		last := f.reaches(id, "completed")
		if last.CreatedAt != first.CreatedAt || last.TTLMs != first.TTLMs || last.TTLMs != 3_600_000 || last.PollIntervalMs != 1000 {
			t.Errorf("got %+v, before %+v", last, first)
		}
		time.Sleep(9*time.Minute + 50*time.Second)
		f.look(id)
		time.Sleep(time.Minute)
		if r := f.poll(id); !strings.Contains(r.body, "-32602") {
			t.Errorf("after its time: %v", r)
		}
	})
}

// While the store is away nothing runs as a task: the call is a plain one, or is refused
// before the tool runs, as the rule says.
func TestStoreThatIsDownBeforeDispatch(t *testing.T) {
	for name, fault := range map[string]func(*redistest.Server){"killed": (*redistest.Server).Kill, "frozen": (*redistest.Server).Stop} {
		for _, policy := range []upgrade.StorePolicy{upgrade.StoreSync, upgrade.StoreRefuse} {
			t.Run(name+" "+string(policy), func(t *testing.T) {
				redis := redistest.Start(t)
				f := newUpgraded(t, rigOptions{store: openStore(t, redis.URL())}, func(r *upgrade.Rule) { r.OnStoreDown = policy })
				f.answers(say(jsonType, doneJSON))
				f.reaches(f.made(), "completed")
				fault(redis)
				before := len(f.seen.of("tools/call"))
				r := f.callTool()
				if policy == upgrade.StoreSync {
					if r.body != doneJSON {
						t.Errorf("got %v", r)
					}
					return
				}
				r.fails(t, http.StatusServiceUnavailable, -31503, "store_unavailable", true)
				if n := len(f.seen.of("tools/call")); n != before {
					t.Errorf("%d calls were sent", n-before)
				}
			})
		}
	}
}

// Too many live tasks of one principal are its own affair.
func TestLiveTasksOfAPrincipalAreBounded(t *testing.T) {
	f := newUpgraded(t, rigOptions{principals: true}, func(r *upgrade.Rule) { r.LivePerPrincipal = 2 })
	f.answers(sayNothing)
	id := f.made(userHeader, "alice")
	f.made(userHeader, "alice")
	f.callTool(userHeader, "alice").fails(t, http.StatusTooManyRequests, -31429, "too_many_tasks", true)
	f.made(userHeader, "bob")
	f.eventually("three rounds", func() bool { return len(f.seen.of("tools/call")) == 3 }) // what is cancelled before is not sent
	f.modern("tasks/cancel", id, byID(id), userHeader, "alice")
	f.made(userHeader, "alice")
	f.eventually("four rounds", func() bool { return len(f.seen.of("tools/call")) == 4 })
}

// A tool that is a task only is not called for a client that takes none.
func TestRequiredToolIsNotCalledPlainly(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) { r.Required = true })
	f.answers(sayResult(done))
	r := f.do(f.request(t.Context(), http.MethodPost, message("tools/call", `"name":"work",`+undeclaredMeta), modernHeader("tools/call", "work")...))
	if m := r.message(t); r.status != http.StatusBadRequest || m.Error == nil || m.Error.Code != -32021 {
		t.Errorf("got %v", r)
	}
	if r := f.legacy("", "tools/call", `"name":"work"`); r.message(t).Error == nil || r.message(t).Error.Code != -32601 {
		t.Errorf("legacy: %v", r)
	}
	if n := len(f.seen.all()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
