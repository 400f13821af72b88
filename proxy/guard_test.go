package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"berth/proxy"
)

// offLoopback is a listener that the network can reach.
func offLoopback(o *proxy.Options) { o.Loopback = false }

// TestOnlyWelcomePagesMayCall: a browser that was led here by a rebound name says
// where the page came from.
func TestOnlyWelcomePagesMayCall(t *testing.T) {
	const listed = "https://app.example"
	listing := func(ep *proxy.Endpoint) { ep.Origins = []string{listed} }
	for name, c := range map[string]struct {
		setup   setup
		allowed []string
		refused []string
	}{
		"loopback listener": {
			setup{},
			[]string{"", "http://localhost:6274", "http://127.0.0.1", "https://[::1]:8080", "http://tool.localhost"},
			[]string{"null", "https://evil.example", "http://localhost.evil.example", "http://127.0.0.1.evil.example", "file://localhost", "http://10.0.0.1", "//", " "},
		},
		"loopback listener with a list": {
			setup{endpoint: listing},
			[]string{"", listed, "http://localhost"},
			[]string{"null", "http://app.example", listed + ":8443", listed + ".evil", "HTTPS://APP.EXAMPLE"},
		},
		"other listener without a list": {
			setup{options: offLoopback},
			[]string{""},
			[]string{"null", "http://localhost", "https://evil.example"},
		},
		"other listener with all": {
			setup{options: offLoopback, endpoint: func(ep *proxy.Endpoint) { ep.Origins = []string{"*"} }},
			[]string{"", "null", "http://localhost", "https://evil.example"}, nil,
		},
		"loopback listener with all": {
			setup{endpoint: func(ep *proxy.Endpoint) { ep.Origins = []string{"*"} }},
			[]string{"", "null", "http://localhost", "https://evil.example"}, nil,
		},
		"other listener with a list": {
			setup{options: offLoopback, endpoint: listing},
			[]string{"", listed},
			[]string{"null", "http://localhost", "https://evil.example"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.setup.handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") })
			b := start(t, c.setup)
			for _, origin := range c.allowed {
				if r := b.post(message("ping", ""), originHeader(origin)...); r.status != 200 {
					t.Errorf("origin %q: got %v, want 200", origin, r)
				}
			}
			if n := b.contacted(); n != len(c.allowed) {
				t.Errorf("upstream saw %d requests, want %d", n, len(c.allowed))
			}
			for _, origin := range c.refused {
				if r := b.post(message("ping", ""), originHeader(origin)...); r.status != 403 {
					t.Errorf("origin %q: got %v, want 403", origin, r)
				}
			}
			if n := b.contacted(); n != len(c.allowed) {
				t.Errorf("upstream saw %d refused requests", n-len(c.allowed))
			}
		})
	}
}

func originHeader(origin string) []string {
	if origin == "" {
		return nil
	}
	return []string{"Origin", origin}
}

func TestLoopbackListenerAnswersLoopbackNamesOnly(t *testing.T) {
	b := start(t, setup{})
	for _, host := range []string{"evil.example", "evil.example:80", "10.0.0.1", "localhost.evil.example", "0.0.0.0"} {
		if r := b.post(message("ping", ""), "Host", host); r.status != 403 {
			t.Errorf("%s: got %v, want 403", host, r)
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
	for _, host := range []string{"localhost", "LOCALHOST:8080", "127.0.0.1", "[::1]:8080", "[::1]"} {
		if r := b.post(message("ping", ""), "Host", host); r.status != 200 {
			t.Errorf("%s: got %v, want 200", host, r)
		}
	}
}

// TestListedHostIsWelcomeOnLoopback: behind another proxy on the same machine the
// public name arrives on a loopback listener.
func TestListedHostIsWelcomeOnLoopback(t *testing.T) {
	b := start(t, setup{endpoint: func(ep *proxy.Endpoint) { ep.Hosts = []string{"mcp.example"} }})
	if r := b.post(message("ping", ""), "Host", "MCP.example:443"); r.status != 200 {
		t.Errorf("listed: got %v, want 200", r)
	}
	if r := b.post(message("ping", ""), "Host", "other.example"); r.status != 403 {
		t.Errorf("not listed: got %v, want 403", r)
	}
	// The name is another pool's or nobody's: there is nothing for it here.
	if r := b.post(message("ping", ""), "Host", "localhost"); r.status != 404 {
		t.Errorf("loopback, while only the name is listed: got %v, want 404", r)
	}
}

// TestAbsoluteFormIsNoForwardProxy: a target with an authority is taken for our own
// only if the authority is.
func TestAbsoluteFormIsNoForwardProxy(t *testing.T) {
	body := message("ping", "")
	request := func(target, host string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", target, host, len(body), body)
	}
	b := start(t, setup{})
	open := start(t, setup{options: offLoopback})
	for _, c := range []struct {
		berth        *berth
		target, host string
		want         int
	}{
		{b, "http://evil.example/mcp", "evil.example", 403},
		{b, "http://evil.example/mcp", "localhost", 403},
		{b, "http://localhost/mcp", "evil.example", 200}, // the target counts (RFC 9112, 3.2.2)
		{b, "http://localhost/mcp", "localhost", 200},
		{open, "http://evil.example/mcp", "evil.example", 403},
		{open, "/mcp", "anything.example", 200},
		{b, "/mcp", "localhost\r\nHost: localhost", 400},
	} {
		before := c.berth.contacted()
		if r := c.berth.raw(request(c.target, c.host)); r.status != c.want {
			t.Errorf("%s, Host %q: got %v, want %d", c.target, c.host, r, c.want)
		}
		if reached := c.berth.contacted() > before; reached != (c.want == 200) {
			t.Errorf("%s, Host %q: forwarded is %v", c.target, c.host, reached)
		}
	}
	if r := b.raw("POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n"); r.status != 400 {
		t.Errorf("no Host: got %v, want 400", r)
	}
}

func TestHugeHeadersAreRefused(t *testing.T) {
	b := start(t, setup{})
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
	for name, lines := range map[string]string{
		"one of 2 MB":      "X-Big: " + strings.Repeat("x", 2<<20) + "\r\n",
		"10,000":           strings.Repeat("X-Many: 1\r\n", 10_000),
		"more than 200":    strings.Repeat("A: 1\r\n", 201),
		"201 names":        manyNames(201),
		"never ending one": "X-Big: " + strings.Repeat("x", 64<<10),
	} {
		if r := b.raw(head + lines + "\r\n"); r.status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%s: got %v, want 431", name, r)
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

func manyNames(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "X-%d: 1\r\n", i)
	}
	return text.String()
}

// TestNothingBecomesATunnel: an upgrade that berth does not know the end of would
// carry bytes that nobody looks at.
func TestNothingBecomesATunnel(t *testing.T) {
	var seen http.Header
	b := start(t, setup{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		io.WriteString(w, "{}")
	})})
	body := message("ping", "")
	post := fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	for name, request := range map[string]string{
		"websocket": "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
		"h2c":       "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n" + post,
	} {
		if r := b.raw(request); r.status != 200 {
			t.Errorf("%s: got %v, want an ordinary 200", name, r)
		}
		if seen.Get("Upgrade") != "" || seen.Get("Http2-Settings") != "" {
			t.Errorf("%s: the upgrade reached the upstream: %v", name, seen)
		}
	}
	before := b.contacted()
	for name, request := range map[string]string{
		"HTTP/2 preface": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"CONNECT":        "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n",
	} {
		if r := b.raw(request); r.status < 400 {
			t.Errorf("%s: got %v, want a refusal", name, r)
		}
	}
	if n := b.contacted() - before; n != 0 {
		t.Errorf("upstream saw %d requests, want none", n)
	}
}

// TestConnectionCannotRemoveWhatACallMeans: the next hop would strip the headers
// that Connection names, and judge another request than berth did.
func TestConnectionCannotRemoveWhatACallMeans(t *testing.T) {
	b := start(t, setup{principals: true})
	for _, name := range []string{"Mcp-Name", "mcp-session-id", "MCP-Protocol-Version", "Authorization", "Cookie", "Host", "Content-Type", "Origin", "Last-Event-ID", userHeader,
		"X-Forwarded-For", "X-Forwarded-User", "Forwarded", "X-Real-IP", "X_Forwarded_For", "X-Auth-Request-User", "Remote-User", "X-Amzn-Oidc-Identity", "X-Amzn-Oidc-Data", "X-Api-Key", "X-Functions-Key"} {
		r := b.raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close, " + name + "\r\n\r\n")
		if r.status != 400 || r.code() != -32600 {
			t.Errorf("Connection: %s: got %v, want 400 -32600", name, r)
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

// A body that berth does not read goes nowhere: a server that overlooks it reads it as the next request on its connection.
func TestABodyBesideAPostGoesNowhere(t *testing.T) {
	b := start(t, setup{})
	smuggled := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-User: admin\r\n\r\n"
	for _, line := range []string{"GET /mcp", "DELETE /mcp", "OPTIONS /mcp", "GET /.well-known/x"} {
		for _, framed := range []string{
			fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(smuggled), smuggled),
			fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(smuggled), smuggled),
		} {
			if r := b.raw(line + " HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: x\r\nConnection: close\r\n" + framed); r.status != 400 {
				t.Errorf("%s with a body: got %v", line, r)
			}
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
	if r := b.raw("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"); r.status != 404 {
		t.Errorf("an empty one: got %v", r)
	}
}

// A body that ends without a byte is none, however its end is told; what comes behind it on the connection is the next request.
func TestABodyWithoutAByteIsNone(t *testing.T) {
	b := start(t, setup{})
	for _, line := range []string{"DELETE /mcp", "GET /mcp", "OPTIONS /mcp", "GET /.well-known/x"} {
		request := func(framed string) string {
			return line + " HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: x\r\n" + framed
		}
		conn := b.dial()
		io.WriteString(conn, request("Transfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: x\r\n\r\n")+request("Connection: close\r\n\r\n"))
		reader := bufio.NewReader(conn)
		var got [2]int
		for i := range got {
			response, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatalf("%s: answer %d: %v", line, i, err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			got[i] = response.StatusCode
		}
		if got[0] != got[1] || got[0] == http.StatusBadRequest {
			t.Errorf("%s: got %v", line, got)
		}
	}
}

// TestNoAdministrationOnTheDataPort: what operators may see, callers may not.
func TestNoAdministrationOnTheDataPort(t *testing.T) {
	b := start(t, setup{})
	for _, path := range []string{"/", "/metrics", "/livez", "/readyz", "/debug/pprof/", "/debug/vars", "/admin", "/mcp/", "/mcp/metrics", "//mcp", "/MCP"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if r := b.send(method, path, ""); r.status != 404 {
				t.Errorf("%s %s: got %v, want 404", method, path, r)
			}
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

func TestOtherMethodsAreNotAllowed(t *testing.T) {
	b := start(t, setup{})
	for _, c := range []struct{ path, method, allow string }{
		{"/mcp", "PUT", "GET, POST, DELETE, OPTIONS"},
		{"/mcp", "PATCH", "GET, POST, DELETE, OPTIONS"},
		{"/mcp", "HEAD", "GET, POST, DELETE, OPTIONS"},
		{"/mcp", "TRACE", "GET, POST, DELETE, OPTIONS"},
		{"/mcp", "BREW", "GET, POST, DELETE, OPTIONS"},
		{"/.well-known/x", "POST", "GET, HEAD, OPTIONS"},
		{"/.well-known/x", "DELETE", "GET, HEAD, OPTIONS"},
	} {
		r := b.send(c.method, c.path, "")
		if r.status != 405 || r.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: got %d, Allow %q, want 405, %q", c.method, c.path, r.status, r.header.Get("Allow"), c.allow)
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}
