package bridge

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/routing"
)

// A page's cursor leads back to the session that it was given out in, for its caller alone.
func TestPagesOfAListAreOneSessions(t *testing.T) {
	bridged(t, tool(kind{lists: `{"tools":[{"name":"asks","inputSchema":{"type":"object"}}],"nextCursor":"2"}`}, where), nil, func(r *rig) {
		list := asking{method: "tools/list"}
		cursor := mcp.CursorIn(mcp.ResultObject([]byte(r.do(list).text)))
		if cursor == "" || cursor == "2" {
			t.Fatalf("got the cursor %q", cursor)
		}
		before := r.sent("tools/list")
		list.params = `"cursor":"` + cursor + `",`
		r.do(list)
		last := r.sent("tools/list")
		if len(last) != len(before)+1 || !strings.Contains(last[len(last)-1].body, `"cursor":"2"`) {
			t.Errorf("the server was asked %v", last)
		}
		if last[len(last)-1].session != before[len(before)-1].session {
			t.Error("the next page is another session's")
		}
		foreign := list
		foreign.caller = "other"
		for name, a := range map[string]asking{"another caller": foreign, "the server's own": {method: "tools/list", params: `"cursor":"2",`}} {
			if got := r.do(a).text; !strings.Contains(got, "-32602") {
				t.Errorf("%s: got %s", name, got)
			}
		}
	})
}

// withPool has the upstreams of these names in the pool of a bridge, all of which one server is.
func withPool(names ...string) func(*Options) {
	return func(o *Options) {
		var all []*routing.Upstream
		for _, name := range names {
			all = append(all, &routing.Upstream{Name: name, URL: &url.URL{Scheme: "http", Host: name + ":80", Path: "/mcp"}})
		}
		probe := func(context.Context, *routing.Upstream) error { return nil }
		pool := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: all, Probe: probe})
		was := o.Endpoint
		o.Endpoint = &inbound.Endpoint{Path: was.Path, Router: &routing.Router{Pool: pool}, Client: was.Client, Timeouts: was.Timeouts, Bridge: was.Bridge}
	}
}

// The next page is who gave its cursor out's; where that one is gone, whoever the call was routed to judges it.
func TestPageWhoseUpstreamIsGoneIsAnothers(t *testing.T) {
	for name, tc := range map[string]struct {
		breaks int64 // connections that a breaks off
		then   func(r *rig)
		asked  []string
	}{
		"there":             {0, nil, []string{"a:80"}},
		"a connection ends": {1, nil, []string{"a:80", "a:80"}},
		"gone":              {1000, nil, []string{"a:80", "a:80", "b:80"}},
		"silent": {0, func(r *rig) {
			r.b.options().Endpoint.Router.Pool.FellSilent(r.at, errors.New("it does not answer"))
		}, []string{"b:80"}},
		"out of the pool": {0, func(r *rig) {
			o := *r.b.options()
			withPool("b")(&o)
			r.b.Change(o)
		}, []string{"b:80"}},
	} {
		t.Run(name, func(t *testing.T) {
			var breaks atomic.Int64
			u := tool(kind{lists: `{"tools":[],"nextCursor":"2"}`}, where)
			u.faults = func(_ http.ResponseWriter, q *http.Request, _ message) bool {
				if q.Host == "a:80" && breaks.Add(-1) >= 0 {
					panic(http.ErrAbortHandler)
				}
				return false
			}
			bridged(t, u, withPool("a", "b"), func(r *rig) {
				list := asking{method: "tools/list"}
				list.params = `"cursor":"` + mcp.CursorIn(mcp.ResultObject([]byte(r.do(list).text))) + `",`
				if tc.then != nil {
					tc.then(r)
				}
				b := r.b.options().Endpoint.Router.Pool.Find("b")
				breaks.Store(tc.breaks)
				response, err := r.b.To(b).Send(r.t.Context(), list.request(b.URL), 0)
				breaks.Store(0)
				if err != nil {
					t.Fatal(err)
				}
				var asked []string
				for _, q := range r.sent("tools/list")[1:] {
					if asked = append(asked, q.host); !strings.Contains(q.body, `"cursor":"2"`) {
						t.Errorf("asked for %s", q.body)
					}
				}
				if g := r.read(response); g.status != 200 || g.Error != nil || !slices.Equal(asked, tc.asked) {
					t.Errorf("got %d %s, of %v", g.status, g.text, asked)
				}
			})
		})
	}
}
