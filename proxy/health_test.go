package proxy_test

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/routing"
	"berth/routing/health"
)

// greet calls the tool that never makes a task.
func (f *rig) greet(who string) reply {
	f.t.Helper()
	return f.modern("tools/call", "greet", `"name":"greet","arguments":{"name":"`+who+`"}`)
}

// An instance that answered HTTP 500 to all kept its share of the calls for ever.
func TestInstanceThatAnswers500ToAllIsEjected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(realtest.Journal)
		f := newRig(t, rigOptions{picker: new(routing.RoundRobin), log: slog.New(slog.NewTextHandler(log, nil))})
		failed := 0
		call := func(n int) {
			for range n {
				if f.greet("x").status != http.StatusOK {
					failed++
				}
			}
		}
		sick := f.servers[1]
		sick.inject(sayStatus(http.StatusInternalServerError, jsonType, `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"x"}}`))
		call(60)
		u := f.pool.Find("b")
		if got := u.State(); got.Name != health.StateEjected || got.Cause == nil || !strings.Contains(got.Cause.Error(), "500") {
			t.Errorf("got %v", got)
		}
		if failed != 5 {
			t.Errorf("got %d of 60 calls failed, want the 5 that ejected it", failed)
		}
		for range 20 { // one call each time finds it as it was
			time.Sleep(time.Minute)
			call(6)
		}
		sick.inject(nil)
		time.Sleep(time.Minute)
		call(6)
		if u.Ejected() {
			t.Error("still ejected, though it is well")
		}
		got := log.String()
		if strings.Count(got, "level=WARN") != 1 || !strings.Contains(got, "upstream=b for=5s error=\"HTTP 500 Internal Server Error\"") {
			t.Errorf("got log\n%s\nwant one warning, with name and cause", got)
		}
		if strings.Count(got, "upstream takes new work again") != 1 {
			t.Errorf("got log\n%s\nwant one line of its return", got)
		}
	})
}

// A tool that fails with HTTP 500 for one caller says nothing of its instance, while others
// are served; nor do 501, refusals, or errors in JSON-RPC.
func TestAnswersThatDoNotEject(t *testing.T) {
	always := func(*http.Request) bool { return true }
	for name, c := range map[string]struct {
		status int
		to     func(*http.Request) bool
		body   string
	}{
		"a tool's failures for one caller": {500, func(r *http.Request) bool { return r.Header.Get("X-Test") == "unlucky" }, ""},
		"not implemented":                  {501, always, ""},
		"refused":                          {403, always, ""},
		"too many":                         {429, always, ""},
		"JSON-RPC errors":                  {200, always, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, rigOptions{size: 2})
			f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				if !c.to(r) {
					return false
				}
				w.Header().Set("Content-Type", jsonType)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
				return true
			})
			for i := range 40 {
				header := []string{"X-Test", "unlucky"}
				if i%4 == 3 {
					header = nil
				}
				f.modern("tools/call", "greet", `"name":"greet","arguments":{"name":"x"}`, header...)
			}
			if f.pool.Find("a").Ejected() {
				t.Error("ejected")
			}
		})
	}
}

// Sessions of an ejected instance stay its own.
func TestEjectedInstanceKeepsItsSessions(t *testing.T) {
	f := newRig(t, rigOptions{size: 2})
	session := f.initialize()
	f.servers[0].inject(onMethod("tools/call", sayStatus(500, jsonType, "{}")))
	for range 6 {
		f.greet("x")
	}
	if !f.pool.Find("a").Ejected() {
		t.Fatal("a is not ejected")
	}
	if r := f.legacy(session, "tools/list", ""); r.status != http.StatusOK || f.servers[0].Calls("tools/list") != 1 {
		t.Errorf("in its session: got %d %s at %d, want 200 at a", r.status, r.body, f.servers[0].Calls("tools/list"))
	}
}
