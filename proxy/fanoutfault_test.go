package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/routing"
)

func onList(fault faultFunc) faultFunc { return onMethod("tasks/list", fault) }

// status answers with this HTTP status and a JSON body.
func status(code int, body string, header ...string) faultFunc {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Type", jsonType)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
		return true
	}
}

const noSuchMethod = `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`

// TestListIsWholeOrAnError: whatever keeps one instance's tasks away, at the first page
// already, makes the list an error and never a shorter list.
func TestListIsWholeOrAnError(t *testing.T) {
	for name, c := range map[string]struct {
		fault  faultFunc
		status int
		code   int
		reason string
	}{
		"frozen":              {func(_ http.ResponseWriter, r *http.Request, _ []byte) bool { <-r.Context().Done(); return true }, 503, -31503, "owner_unavailable"},
		"breaks off":          {reset, 503, -31503, "owner_unavailable"},
		"an error":            {say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}`), 503, -31503, "owner_unavailable"},
		"a gateway's error":   {status(502, ""), 503, -31503, "owner_unavailable"},
		"has no lists":        {say(jsonType, noSuchMethod), 503, -31503, "owner_unavailable"},
		"breaks off half-way": {halfway, 503, -31503, "owner_unavailable"},
		"an id twice":         {say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"1","taskId":"2"}]}}`), 502, -32603, "bad_upstream_response"},
		"two results":         {say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"tasks":[]},"result":{"tasks":[]}}`), 502, -32603, "bad_upstream_response"},
		"no tasks":            {say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{}}`), 502, -32603, "bad_upstream_response"},
		"no JSON":             {say(jsonType, `{`), 502, -32603, "bad_upstream_response"},
		"no response":         {say(eventsType, ": nothing\n\n"), 502, -32603, "bad_upstream_response"},
		"too long":            {say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"`+strings.Repeat("x", 4<<20)+`"}]}}`), 502, -32603, "bad_upstream_response"},
		"a redirect":          {status(307, "", "Location", "http://elsewhere.example"), 502, -32603, "bad_upstream_response"},
		"a list and an error": {status(403, `{"jsonrpc":"2.0","id":1,"result":{"tasks":[]}}`), 502, -32603, "bad_upstream_response"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
				for range 3 {
					f.newCoreTask("", 3600)
				}
				f.servers[2].inject(onList(c.fault))
				f.legacy("", "tasks/list", "").fails(t, c.status, c.code, c.reason, c.status == 503)
				f.servers[2].inject(nil)
				if got := len(f.legacy("", "tasks/list", "").taskPage(t).Result.Tasks); got != 3 {
					t.Errorf("afterwards: got %d tasks, want 3", got)
				}
			})
		})
	}
}

// halfway breaks off a list in the middle.
func halfway(w http.ResponseWriter, r *http.Request, body []byte) bool {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"tasks":[`)
	_ = http.NewResponseController(w).Flush()
	return reset(w, r, body)
}

// TestKeptConnectionThatDiedCostsNoList: a list reads, so it may be asked for again.
func TestKeptConnectionThatDiedCostsNoList(t *testing.T) {
	for name, fault := range map[string]faultFunc{"before the answer": reset, "in its middle": halfway} {
		f := newRig(t, rigOptions{})
		f.servers[1].inject(onlyOnce(onList(fault)))
		if r := f.legacy("", "tasks/list", ""); r.status != 200 {
			t.Errorf("%s: got %v", name, r)
		}
	}
}

// TestSilentInstanceSparesTheOthers: what is known in vain is not asked.
func TestSilentInstanceSparesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{probe: true})
		f.servers[1].freeze()
		if took := elapsed(func() { f.legacy("", "tasks/list", "").fails(t, 503, -31503, "owner_unavailable", true) }); took != 10*time.Second {
			t.Errorf("the first list took %v, want 10s", took)
		}
		before := f.calls("tasks/list")
		if took := elapsed(func() { f.legacy("", "tasks/list", "").fails(t, 503, -31503, "owner_unavailable", true) }); took != 0 {
			t.Errorf("the second list took %v", took)
		}
		if n := f.calls("tasks/list") - before; n != 0 {
			t.Errorf("%d instances were asked", n)
		}
	})
}

// TestDrainingInstancesAreListed: they keep what they own.
func TestDrainingInstancesAreListed(t *testing.T) {
	f := newRig(t, rigOptions{picker: new(routing.RoundRobin), upstream: func(i int, u *routing.Upstream) { u.Draining = i == 2 }})
	f.legacy("", "tasks/list", "").taskPage(t)
	if f.servers[2].Calls("tasks/list") != 1 {
		t.Error("the draining instance was not asked")
	}
}

// TestWhatAllRefuseIsTheAnswer: as it came, so that a client can act on it.
func TestWhatAllRefuseIsTheAnswer(t *testing.T) {
	b := start(t, setup{server: func(s *mcptest.Server) { s.SessionOptional = false }})
	got := b.legacy("", "tasks/list", "")
	want := fetch(t, http.MethodPost, b.urls[0], message("tasks/list", ""), "Mcp-Protocol-Version", "2025-11-25")
	if got.status != 400 || got.body != want.body || b.record()["outcome"] != "ok" {
		t.Errorf("no session: got %v, want %v", got, want)
	}
	none := start(t, setup{server: func(s *mcptest.Server) { s.Intercept = status(404, noSuchMethod) }})
	if r := none.legacy("", "tasks/list", ""); r.status != 404 || r.body != noSuchMethod {
		t.Errorf("no method: got %v", r)
	}
	events := start(t, setup{server: func(s *mcptest.Server) { s.Intercept = say(eventsType, "data: "+noSuchMethod+"\n\n") }})
	if r := events.legacy("", "tasks/list", ""); r.status != 200 || r.body != noSuchMethod {
		t.Errorf("no method, as an event: got %v", r)
	}
}

// TestRefusalOfTheCallerIsTheAnswer: one instance that says it is enough.
func TestRefusalOfTheCallerIsTheAnswer(t *testing.T) {
	b := start(t, setup{server: func(s *mcptest.Server) {
		if s.Name == "b" {
			s.Intercept = status(401, "no", "WWW-Authenticate", "Bearer realm=x")
		}
	}})
	r := b.legacy("", "tasks/list", "")
	if r.status != 401 || r.body != "no" || r.header.Get("WWW-Authenticate") != "Bearer realm=x" {
		t.Errorf("got %v %v", r, r.header)
	}
}

// TestListsTakeTurns: each costs every instance a request, so that few of one caller run at a
// time, and the rest is told to come again.
func TestListsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{size: 1})
		f.servers[0].freeze()
		var waiting sync.WaitGroup
		for range 4 {
			waiting.Go(func() { f.legacy("", "tasks/list", "") })
		}
		synctest.Wait()
		if took := elapsed(func() { f.legacy("", "tasks/list", "").fails(t, 503, -31503, "overloaded", true) }); took != 2*time.Second {
			t.Errorf("waited for %v, want 2s", took)
		}
		waiting.Wait()
		f.servers[0].inject(nil)
		f.legacy("", "tasks/list", "").taskPage(t)
		if n := f.calls("tasks/list"); n != 5 {
			t.Errorf("the instance saw %d requests, want 5", n)
		}
	})
}

// TestCursorOpensAtAnotherBerth: of the same store and pool, and of no other pool.
func TestCursorOpensAtAnotherBerth(t *testing.T) {
	for name, size := range map[string]int{"same": 3, "smaller": 2} {
		store := openStore(t, "memory:")
		paged := func(s *mcptest.Server) { s.TasksPerPage = 1 }
		a := newRig(t, rigOptions{store: store, server: paged})
		for range 2 {
			a.newCoreTask("", 3600)
		}
		cursor := a.legacy("", "tasks/list", "").taskPage(t).Result.NextCursor
		b := a.second(rigOptions{store: store, size: size})
		r := b.legacy("", "tasks/list", cursorParam(cursor))
		if size == 3 {
			if p := r.taskPage(t); len(p.Result.Tasks) != 1 || p.Result.NextCursor != "" {
				t.Errorf("%s: got %v, want the second page", name, r)
			}
		} else if r.status != 200 || r.code() != -32602 {
			t.Errorf("%s: got %v, want -32602", name, r)
		}
	}
}

// TestListNeedsAKeyForItsCursor: a store that is away before it gave a key leaves no cursor to
// be made, and no page without one.
func TestListNeedsAKeyForItsCursor(t *testing.T) {
	store := openStore(t, "memory:")
	f := newRig(t, rigOptions{store: store, server: func(s *mcptest.Server) { s.TasksPerPage = 1 }})
	f.newCoreTask("", 3600)
	f.legacy("", "tasks/list", "").taskPage(t)
	f.newCoreTask("", 3600)
	_ = store.Close()
	f.legacy("", "tasks/list", "").fails(t, 503, -31503, "store_unavailable", true)
}
