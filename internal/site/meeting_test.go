package site

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"berth/internal/config"
	"berth/internal/demo"
	"berth/internal/mcptest"
)

// served is the URL of an MCP endpoint that handler is.
func served(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
}

// instance serves both eras, but for what refuse answers.
func instance(t *testing.T, refuse func(w http.ResponseWriter, r *http.Request) bool) string {
	t.Helper()
	s := &mcptest.Server{Name: "x", Intercept: func(w http.ResponseWriter, r *http.Request, _ []byte) bool { return refuse != nil && refuse(w, r) }}
	t.Cleanup(s.Close)
	return served(t, s.ServeHTTP)
}

func isModern(r *http.Request) bool { return r.Header.Get("MCP-Protocol-Version") == "2026-07-28" }

func legacyOnly(w http.ResponseWriter, r *http.Request) bool {
	if isModern(r) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
	}
	return isModern(r)
}

// listsLegacy is legacyOnly, but knows server/discover.
func listsLegacy(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Mcp-Method") != "server/discover" {
		return legacyOnly(w, r)
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"jsonrpc":"2.0","id":"berth","result":{"resultType":"complete","supportedVersions":["2025-11-25"],"capabilities":{}}}`)
	return true
}

func modernOnly(w http.ResponseWriter, r *http.Request) bool {
	if !isModern(r) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"jsonrpc":"2.0","id":"berth","error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"]}}}`)
	}
	return !isModern(r)
}

// ownName lets in who comes under the instance's own name only, as SDKs do on loopback.
func ownName(w http.ResponseWriter, r *http.Request) bool {
	if strings.HasPrefix(r.Host, "127.0.0.1:") {
		return false
	}
	http.Error(w, "Forbidden: invalid Host header", http.StatusForbidden)
	return true
}

// failing answers whatever it is asked with an error of its own.
func failing(w http.ResponseWriter, _ *http.Request) bool {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusInternalServerError)
	io.WriteString(w, `{"jsonrpc":"2.0","id":"berth","error":{"code":-32603,"message":"out of order"}}`)
	return true
}

// oldTransport is a server of 2024-11-05: a stream that names the URL to POST to.
func oldTransport(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		http.Error(w, "Cannot POST /mcp", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, "event: endpoint\ndata: /messages?sessionId=1\n\n")
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// What a client would meet is found before clients do: each of these passed the check, and
// then served nobody, or the half of them.
func TestUpstreamsAreSpokenToAsClientsWould(t *testing.T) {
	old := served(t, oldTransport)
	for name, c := range map[string]struct {
		urls []string
		host string
		want []string // parts of each line, parted by "|"
	}{
		"both eras everywhere":      {[]string{instance(t, nil), instance(t, nil)}, "forward", nil},
		"one era everywhere":        {[]string{instance(t, legacyOnly), instance(t, legacyOnly)}, "forward", nil},
		"another Host than its own": {[]string{instance(t, ownName)}, "forward", []string{`pools[0].host: u0 (|403|"mcp.test"|host = "upstream"`}},
		"its own Host":              {[]string{instance(t, ownName)}, "upstream", nil},
		"a wrong literal Host":      {[]string{instance(t, ownName)}, "tools.test", []string{`pools[0].host: u0 (|"tools.test"`}},
		"the old transport":         {[]string{old, instance(t, nil)}, "forward", []string{"pools[0].upstreams[0].url: u0 (|2024-11-05|url = \"sse+" + old + "\"|Streamable HTTP"}},
		"an error to all":           {[]string{instance(t, failing), instance(t, nil)}, "forward", []string{"pools[0].upstreams[0].url: u0 (|opens no session|out of order"}},
		"legacy in a mixed pool":    {[]string{instance(t, nil), instance(t, legacyOnly)}, "forward", nil}, // modern calls are bridged
		"modern in a mixed pool":    {[]string{instance(t, modernOnly), instance(t, nil)}, "forward", []string{"pools[0].upstreams[0].url: warning: u0 (|modern era only"}},
		"one of each":               {[]string{instance(t, modernOnly), instance(t, legacyOnly)}, "forward", []string{"pools[0].upstreams[0].url: warning: u0 (|modern era only"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default()
			pool := config.DefaultPool()
			pool.Hosts, pool.Host = []string{"mcp.test"}, c.host
			for i, u := range c.urls {
				pool.Upstreams = append(pool.Upstreams, config.Upstream{Name: "u" + string(rune('0'+i)), URL: u})
			}
			cfg.Pools = []config.Pool{pool}
			found := Inspect(t.Context(), cfg)
			if len(found) != len(c.want) {
				t.Fatalf("got %v, want %q", found, c.want)
			}
			for i, f := range found {
				for part := range strings.SplitSeq(c.want[i], "|") {
					if !strings.Contains(f.String(), part) {
						t.Errorf("got %q, want %q in it", f, part)
					}
				}
			}
		})
	}
}

// An instance that is said to be modern is not bridged: the pool's modern clients have one fewer.
func TestInstanceThatIsNotBridgedIsWarnedOf(t *testing.T) {
	for name, refuse := range map[string]func(http.ResponseWriter, *http.Request) bool{"it refuses": legacyOnly, "it lists what it speaks": listsLegacy} {
		cfg, pool := config.Default(), config.DefaultPool()
		pool.Upstreams = []config.Upstream{
			{Name: "u0", URL: instance(t, nil)}, {Name: "u1", URL: instance(t, refuse), Era: config.EraModern},
		}
		cfg.Pools = []config.Pool{pool}
		found := Inspect(t.Context(), cfg)
		if len(found) != 1 || !strings.Contains(found[0].String(), "warning: u1 (") || !strings.Contains(found[0].String(), "legacy era only") {
			t.Errorf("%s: got %v, want a warning of u1", name, found)
		}
	}
}

// A command that does not start is found before clients find it, with what it says.
func TestCommandThatDoesNotStartIsFound(t *testing.T) {
	cfg, pool := config.Default(), config.DefaultPool()
	pool.Upstreams = []config.Upstream{
		{Name: "well", Command: plainServer(t), Replicas: 2},
		{Name: "broken", Command: []string{"sh", "-c", "echo no such key >&2; exit 3"}},
	}
	cfg.Pools = []config.Pool{pool}
	found := Inspect(t.Context(), cfg)
	if len(found) != 1 || found[0].Warning || !strings.Contains(found[0].String(), "pools[0].upstreams[1].command: broken (") || !strings.Contains(found[0].String(), "no such key") {
		t.Errorf("got %v, want what broken says", found)
	}
}

// The check leaves no session behind, and calls no tool.
func TestCheckEndsTheSessionThatItOpens(t *testing.T) {
	var opened, ended, other atomic.Int64
	target := instance(t, func(_ http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodDelete && r.Header.Get("Mcp-Session-Id") != "":
			ended.Add(1)
		case r.Method == http.MethodPost && !isModern(r):
			opened.Add(1)
		case r.Header.Get("Mcp-Method") != "server/discover":
			other.Add(1)
		}
		return false
	})
	cfg, pool := config.Default(), config.DefaultPool()
	pool.Upstreams = []config.Upstream{{Name: "u", URL: target}}
	cfg.Pools = []config.Pool{pool}
	if found := Inspect(t.Context(), cfg); found != nil {
		t.Errorf("found %v", found)
	}
	if opened.Load() != 1 || ended.Load() != 1 || other.Load() != 0 {
		t.Errorf("got %d sessions opened, %d ended, %d other requests", opened.Load(), ended.Load(), other.Load())
	}
}

// Under which name clients come, the configuration tells, or nobody.
func TestClientsHost(t *testing.T) {
	for _, c := range []struct {
		listen string
		hosts  []string
		want   string
	}{
		{"127.0.0.1:8080", nil, "127.0.0.1:8080"},
		{"10.0.0.1:80", []string{"mcp.test", "b.test"}, "mcp.test"},
		{"0.0.0.0:8080", nil, ""}, {"[::]:8080", nil, ""}, {":8080", nil, ""},
		{"localhost:8080", nil, "localhost:8080"},
	} {
		if got := clientsHost(c.listen, config.Pool{Hosts: c.hosts}); got != c.want {
			t.Errorf("%s, %v: got %q, want %q", c.listen, c.hosts, got, c.want)
		}
	}
}

// TestMain is a server by stdio as well, which berth runs in tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == demo.ServerVerb {
		if err := (&mcptest.StdioServer{Name: "plain"}).Serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func plainServer(t *testing.T) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, demo.ServerVerb}
}
