package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"berth/internal/h1/h1test"
	"berth/internal/storage"
	"berth/proxy"
	"berth/routing"
	"berth/routing/claim"
	"berth/sticky"
)

// pools starts a berth with one pool for each spec, "path" or "host/path"; an
// upstream's answer names the pool's number and the path and query it was sent.
func pools(t *testing.T, specs ...[2]string) *berth {
	t.Helper()
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bindings := sticky.New(store, sticky.Options{})
	var endpoints []*proxy.Endpoint
	for i, spec := range specs {
		upstreams := (&berth{t: t}).startUpstreams(setup{path: "/api/v1", handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%d %s", i, r.URL.RequestURI())
		})})
		pool := routing.NewPool(routing.PoolOptions{Name: fmt.Sprint(i), Upstreams: upstreams})
		client := h1test.NewSender(nil, 0)
		t.Cleanup(client.Close)
		ep := &proxy.Endpoint{Path: spec[1], Router: &routing.Router{Pool: pool, Guard: claim.Guard{Bindings: bindings}, Asker: routing.NewAsker(pool)}, Client: client}
		if spec[0] != "" {
			ep.Hosts = []string{spec[0]}
		}
		endpoints = append(endpoints, ep)
	}
	return start(t, setup{options: func(o *proxy.Options) { o.Endpoints = endpoints }})
}

// TestPoolsAreToldApartByPathAndHost, and what lies under /.well-known/ goes to the
// pool that it is about, its path named as the upstream names it.
func TestPoolsAreToldApartByPathAndHost(t *testing.T) {
	b := pools(t, [2]string{"", "/mcp"}, [2]string{"", "/team/mcp"}, [2]string{"a.localhost", "/mcp"}, [2]string{"b.localhost", "/other"}, [2]string{"2001:db8::5", "/mcp"})
	const resource = "/.well-known/oauth-protected-resource"
	for _, c := range []struct{ host, path, want string }{
		{"localhost", "/mcp", "0 /api/v1"},
		{"localhost", "/team/mcp", "1 /api/v1"},
		{"a.localhost", "/mcp", "2 /api/v1"},
		{"A.LOCALHOST:80", "/mcp", "2 /api/v1"},
		{"b.localhost", "/mcp", "0 /api/v1"},
		{"[2001:db8::5]", "/mcp", "4 /api/v1"},
		{"[2001:DB8:0::5]:8080", "/mcp", "4 /api/v1"},
		{"b.localhost", "/other", "3 /api/v1"},
		{"localhost", "/mcp?a=1&b=%20;c", "0 /api/v1?a=1&b=%20;c"},
		{"localhost", resource, "0 " + resource},
		{"localhost", resource + "/mcp", "0 " + resource + "/api/v1"},
		{"localhost", resource + "/mcp?x=1", "0 " + resource + "/api/v1?x=1"},
		{"localhost", resource + "/team/mcp", "1 " + resource + "/api/v1"},
		{"localhost", resource + "/api/v1", "0 " + resource + "/api/v1"},
		{"a.localhost", resource + "/mcp", "2 " + resource + "/api/v1"},
		{"b.localhost", "/.well-known/openid-configuration", "3 /.well-known/openid-configuration"},
	} {
		if r := b.send(http.MethodGet, c.path, "", "Host", c.host); r.status != 200 || r.body != c.want {
			t.Errorf("%s%s: got %v, want 200 %s", c.host, c.path, r, c.want)
		}
	}
	for _, c := range [][2]string{
		{"localhost", "/other"}, {"localhost", "/team"}, {"localhost", "/.well-known"}, {"localhost", "/.well-known/../secret"},
		{"localhost", "/.well-known/x/../../secret/mcp"}, {"localhost", "/.well-known/%2e%2e/secret/mcp"}, {"localhost", "/.well-known/a%2f..%2f../mcp"},
		{"localhost", "/.well-known/..;/admin"}, {"localhost", "/.well-known/..%5cadmin"}, {"localhost", "/.well-known/%252e%252e/admin"},
		{"localhost", "/.well-known//mcp"}, {"localhost", "/x/.well-known/y"},
	} {
		if r := b.send(http.MethodGet, c[1], "", "Host", c[0]); r.status != 404 {
			t.Errorf("%s%s: got %v, want 404", c[0], c[1], r)
		}
	}
}

// Who serves a path at a host has the documents about it there, whoever else lists the host; and those about the whole origin are its root's.
func TestDocumentsAreOfWhoServesTheirPath(t *testing.T) {
	b := pools(t, [2]string{"", "/mcp"}, [2]string{"a.localhost", "/mcp"}, [2]string{"", "/team/mcp"}, [2]string{"", "/"})
	const resource = "/.well-known/oauth-protected-resource"
	for _, c := range []struct{ host, path, want string }{
		{"a.localhost", "/team/mcp", "2 /api/v1"},
		{"a.localhost", resource + "/team/mcp", "2 " + resource + "/api/v1"},
		{"a.localhost", resource + "/mcp", "1 " + resource + "/api/v1"},
		{"a.localhost", "/", "3 /api/v1"},
		{"a.localhost", resource, "3 " + resource},
		{"localhost", resource, "3 " + resource},
		{"localhost", "/.well-known/openid-configuration", "3 /.well-known/openid-configuration"},
		{"a.localhost", resource + "/other", "1 " + resource + "/other"},
	} {
		if r := b.send(http.MethodGet, c.path, "", "Host", c.host); r.status != 200 || r.body != c.want {
			t.Errorf("%s%s: got %v, want 200 %s", c.host, c.path, r, c.want)
		}
	}
}

// TestPreflightsAndDiscoveryPass: a browser asks before it calls, and a client
// looks for the authorization server before it may.
func TestPreflightsAndDiscoveryPass(t *testing.T) {
	const page = "http://localhost:6274"
	b := start(t, setup{path: "/api/v1", handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		h.Set("Etag", `"1"`)
		h.Set("X-Saw", r.Method+" "+r.URL.Path+" ("+r.Header.Get("Accept-Encoding")+")")
		switch {
		case r.Method == http.MethodOptions:
			w.WriteHeader(http.StatusNoContent)
		case r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(http.StatusNotModified)
		case r.URL.Path == "/.well-known/moved":
			http.Redirect(w, r, "https://auth.example/.well-known/moved", http.StatusFound)
		default:
			h.Set("Content-Type", "application/json")
			h.Set("Content-Encoding", "gzip")
			io.WriteString(w, "\x1f\x8bcompressed")
		}
	})})
	const doc = "/.well-known/oauth-authorization-server"
	for _, c := range []struct {
		method, path string
		header       []string
		status       int
		saw, body    string
	}{
		{"OPTIONS", "/mcp", []string{"Origin", page, "Access-Control-Request-Method", "POST"}, 204, "OPTIONS /api/v1 ()", ""},
		{"OPTIONS", doc, []string{"Origin", page}, 204, "OPTIONS " + doc + " ()", ""},
		{"GET", doc, []string{"Accept-Encoding", "gzip, br"}, 200, "GET " + doc + " (gzip, br)", "\x1f\x8bcompressed"},
		{"GET", doc, nil, 200, "GET " + doc + " ()", "\x1f\x8bcompressed"},
		{"HEAD", doc, nil, 200, "HEAD " + doc + " ()", ""},
		{"GET", doc, []string{"If-None-Match", `"1"`}, 304, "GET " + doc + " ()", ""},
		{"GET", "/.well-known/moved", nil, 302, "GET /.well-known/moved ()", "<a href=\"https://auth.example/.well-known/moved\">Found</a>.\n\n"},
	} {
		r := b.send(c.method, c.path, "", c.header...)
		if r.status != c.status || r.header.Get("X-Saw") != c.saw || r.body != c.body {
			t.Errorf("%s %s: got %v, upstream saw %q, want %d %q, %q", c.method, c.path, r, r.header.Get("X-Saw"), c.status, c.body, c.saw)
		}
	}
	if r := b.send("OPTIONS", "/mcp", "", "Origin", page); r.header.Get("Access-Control-Allow-Origin") != page {
		t.Errorf("the upstream's leave is lost: %v", r.header)
	}
	if r := b.send("OPTIONS", "/mcp", "", "Origin", "https://evil.example"); r.status != 403 {
		t.Errorf("foreign page: got %v, want 403", r)
	}
}
