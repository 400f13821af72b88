package proxy_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/routing/health"
)

// check checks the rig's first upstream in one way, for two seconds at most.
func (f *rig) check(kind health.CheckKind, change func(*proxy.Endpoint)) error {
	f.t.Helper()
	ep := newEndpoint(f.pool, f.bindings, f.outbound, false)
	if change != nil {
		change(ep)
	}
	by := health.Check{Kind: kind, Path: "/healthz", Timeout: 2 * time.Second}
	ctx, cancel := context.WithTimeout(f.t.Context(), by.Timeout)
	defer cancel()
	return outbound.To(ep).Check(ctx, f.pool.Find("a"), by)
}

var kinds = map[string]health.CheckKind{"discover": health.CheckDiscover, "initialize": health.CheckInitialize, "http": health.CheckHTTP}

// healthz answers GET /healthz with a status.
func healthz(status int) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.Method != http.MethodGet || r.URL.Path != "/healthz" {
			return false
		}
		w.WriteHeader(status)
		return true
	}
}

func TestChecksOfAServerThatIsWell(t *testing.T) {
	for name, kind := range kinds {
		f := newRig(t, rigOptions{size: 1})
		f.servers[0].inject(healthz(http.StatusNoContent))
		if err := f.check(kind, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := f.calls("ping"); n > 0 {
			t.Errorf("%s: %d pings", name, n)
		}
	}
}

// A session that a check opens is ended by it: servers keep one for hours.
func TestCheckEndsItsSession(t *testing.T) {
	f := newRig(t, rigOptions{size: 1})
	var ended []string
	f.servers[0].inject(func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.Method == http.MethodDelete {
			ended = append(ended, r.Header.Get("Mcp-Session-Id"))
		}
		return false
	})
	if err := f.check(health.CheckInitialize, nil); err != nil {
		t.Fatal(err)
	}
	if len(ended) != 1 || ended[0] == "" || f.calls("initialize") != 1 {
		t.Errorf("%d sessions opened, ended %q", f.calls("initialize"), ended)
	}
}

// slowly has a server take so long to open sessions.
func slowly(wait time.Duration) faultFunc {
	return func(_ http.ResponseWriter, _ *http.Request, body []byte) bool {
		if methodIn(body) == "initialize" {
			time.Sleep(wait)
		}
		return false
	}
}

// A session that is opened after its check has timed out is ended all the same, and no other is opened meanwhile.
func TestCheckThatTimesOutEndsItsSession(t *testing.T) {
	for _, name := range []string{"discover", "initialize"} {
		synctest.Test(t, func(t *testing.T) {
			f := newRig(t, rigOptions{size: 1})
			s := f.servers[0]
			s.inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
				return methodIn(body) == "server/discover" && legacyRefusals["Python"](w, r, body) || slowly(5*time.Second)(w, r, body)
			})
			for range 2 {
				if err := f.check(kinds[name], nil); err == nil || !strings.HasSuffix(err.Error(), ": no answer within 2s") {
					t.Errorf("%s: got %v", name, err)
				}
			}
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if opened, ended, left := s.Calls("initialize"), s.Calls(http.MethodDelete), len(s.Sessions()); opened != 1 || ended != 1 || left != 0 {
				t.Errorf("%s: %d opened, %d ended, %d left", name, opened, ended, left)
			}
			s.inject(slowly(0))
			if err := f.check(health.CheckInitialize, nil); err != nil || len(s.Sessions()) != 0 {
				t.Errorf("%s, fast again: got %v, %d left", name, err, len(s.Sessions()))
			}
		})
	}
}

// A server that never answers is not waited for for ever.
func TestCheckGivesUpAnOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan time.Duration, 1)
		f := newRig(t, rigOptions{size: 1})
		f.servers[0].inject(untilGone(gone))
		if err := f.check(health.CheckInitialize, nil); err == nil {
			t.Error("passed")
		}
		if took := <-gone; took != 12*time.Second {
			t.Errorf("given up after %v, want 12s", took)
		}
		f.servers[0].inject(slowly(0))
		synctest.Wait()
		if err := f.check(health.CheckInitialize, nil); err != nil {
			t.Errorf("afterwards: got %v", err)
		}
	})
}

// A server of the legacy era does not know server/discover, and is well all the same. Once that is known, it is
// not asked for it again.
func TestCheckOfALegacyServer(t *testing.T) {
	refusals := maps.Clone(legacyRefusals)
	refusals["Rust"] = sayStatus(422, "text/plain; charset=utf-8", "Unexpected message, expect initialize request")
	refusals["-32602"] = say(jsonType, `{"jsonrpc":"2.0","id":"berth","error":{"code":-32602,"message":"Invalid request parameters"}}`)
	for name, refuse := range refusals {
		f := newRig(t, rigOptions{size: 1})
		discovers := 0
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if methodIn(body) != "server/discover" {
				return false
			}
			discovers++
			return refuse(w, r, body)
		})
		for range 3 {
			if err := f.check(health.CheckDiscover, nil); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if speaks, known := f.pool.Find("a").SpeaksModern(); discovers != 1 || speaks || !known {
			t.Errorf("%s: asked %d times; speaks modern %v, known %v", name, discovers, speaks, known)
		}
	}
}

func TestChecksOfAServerThatIsSick(t *testing.T) {
	sick := map[string]struct {
		fault faultFunc
		says  string
	}{
		"500":          {sayStatus(500, jsonType, `{"jsonrpc":"2.0","id":"berth","error":{"code":-32603,"message":"canary"}}`), "HTTP 500"},
		"503 in plain": {sayStatus(503, "text/plain", "canary"), "HTTP 503"},
		"reset":        {reset, ""},
		"404":          {sayStatus(404, "text/plain", "canary"), "HTTP 404"},
		"redirect":     {sayStatus(302, "text/plain", "canary"), "HTTP 302"},
	}
	for name, c := range sick {
		for kindName, kind := range kinds {
			f := newRig(t, rigOptions{size: 1})
			f.servers[0].inject(c.fault)
			err := f.check(kind, nil)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s of %s: got %v, want it to say %q", kindName, name, err, c.says)
			}
			if u := f.pool.Find("a"); u.Silent() || u.Ejected() {
				t.Errorf("%s of %s: a check counts as a request", kindName, name)
			}
		}
	}
	f := newRig(t, rigOptions{size: 1})
	f.servers[0].inject(sayStatus(200, jsonType, `{"jsonrpc":"2.0","id":"berth","error":{"code":-32603,"message":"canary"}}`))
	if err := f.check(health.CheckInitialize, nil); err == nil || !strings.Contains(err.Error(), "error -32603") {
		t.Errorf("an error in JSON-RPC: got %v", err)
	}
}

func TestCheckOfAFrozenServerSaysHowLong(t *testing.T) {
	for name, kind := range kinds {
		synctest.Test(t, func(t *testing.T) {
			f := newRig(t, rigOptions{size: 1})
			f.servers[0].freeze()
			err := f.check(kind, nil)
			if err == nil || !strings.HasSuffix(err.Error(), ": no answer within 2s") {
				t.Errorf("%s: got %v", name, err)
			}
		})
	}
}

// A server that asks for credentials works, unless they were berth's own that it refuses.
func TestCheckWithoutCredentials(t *testing.T) {
	own := &proxy.Authorization{Value: func() string { return "Bearer x" }}
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		f := newRig(t, rigOptions{size: 1})
		f.servers[0].inject(sayStatus(status, "text/plain", "who are you?"))
		for _, kind := range []health.CheckKind{health.CheckDiscover, health.CheckInitialize} {
			if err := f.check(kind, nil); err != nil {
				t.Errorf("%d: %v", status, err)
			}
			if err := f.check(kind, func(ep *proxy.Endpoint) { ep.Authorization = own }); err == nil {
				t.Errorf("%d to berth's own credentials: passed", status)
			}
		}
	}
}

// An answer to a check ends a silence, as any does; one of another path does not.
func TestCheckEndsSilence(t *testing.T) {
	for name, kind := range kinds {
		f := newRig(t, rigOptions{size: 1})
		f.servers[0].inject(healthz(http.StatusOK))
		p := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: f.pool.Upstreams(), Probe: func(context.Context, *routing.Upstream) error { return errors.New("mute") }})
		f.pool = p
		p.FellSilent(p.Find("a"), errors.New("it hung"))
		if err := f.check(kind, nil); err != nil {
			t.Fatal(err)
		}
		if got, want := p.Find("a").Silent(), kind == health.CheckHTTP; got != want {
			t.Errorf("%s: silent %v, want %v", name, got, want)
		}
	}
}
