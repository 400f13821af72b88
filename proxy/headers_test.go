package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"berth/proxy"
)

// A mirror is an upstream that keeps the last request it saw.
type mirror struct {
	mu   sync.Mutex // guards the fields below
	last *http.Request
	body string
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.last, m.body = r, string(body)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
}

func (m *mirror) seen() (*http.Request, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last, m.body
}

func trustLoopback(o *proxy.Options) { o.TrustedProxies = loopbackPeers }

// TestForwardingHeadersAreBelievedFromTrustedPeersOnly: anybody can claim to be
// another proxy.
func TestForwardingHeadersAreBelievedFromTrustedPeersOnly(t *testing.T) {
	claims := []string{
		"X-Forwarded-For", "203.0.113.7", "X-Forwarded-For", "203.0.113.8", "X-Forwarded-Host", "public.example",
		"X-Forwarded-Proto", "https", "X-Forwarded-Port", "443", "X-Forwarded-Prefix", "/a",
		"X-Real-Ip", "203.0.113.7", "Forwarded", "for=203.0.113.7", "Via", "1.1 edge",
	}
	for name, c := range map[string]struct {
		options func(*proxy.Options)
		want    map[string][]string
	}{
		"trusted": {trustLoopback, map[string][]string{
			"X-Forwarded-For": {"203.0.113.7, 203.0.113.8, 127.0.0.1"}, "X-Forwarded-Host": {"public.example"},
			"X-Forwarded-Proto": {"https"}, "X-Forwarded-Port": {"443"}, "X-Forwarded-Prefix": {"/a"},
			"X-Real-Ip": {"203.0.113.7"}, "Forwarded": {"for=203.0.113.7"}, "Via": {"1.1 edge", "1.1 berth"},
		}},
		"others": {nil, map[string][]string{
			"X-Forwarded-For": {"127.0.0.1"}, "X-Forwarded-Host": {"localhost:8080"}, "X-Forwarded-Proto": {"http"},
			"X-Forwarded-Port": nil, "X-Forwarded-Prefix": nil, "X-Real-Ip": nil, "Forwarded": nil, "Via": {"1.1 berth"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			m := new(mirror)
			b := start(t, setup{handler: m, options: c.options})
			b.post(message("ping", ""), append(claims, "Host", "localhost:8080")...)
			got, _ := m.seen()
			for header, want := range c.want {
				if !slices.Equal(got.Header.Values(header), want) {
					t.Errorf("%s: got %q, want %q", header, got.Header.Values(header), want)
				}
			}
		})
	}
}

// TestLookalikeHeadersAreDropped: servers that map names to variables read an
// underscore as a hyphen.
func TestLookalikeHeadersAreDropped(t *testing.T) {
	m := new(mirror)
	b := start(t, setup{handler: m, principals: true})
	b.post(message("ping", ""),
		"Mcp_Name", "x", "MCP_METHOD", "x", "Mcp-Session_Id", "x", "Mcp_Param_A", "x",
		"X_Forwarded_For", "x", "x_forwarded-host", "x", "X_Real_IP", "x", "X_User", "mallory",
		"X_Other", "stays")
	got, _ := m.seen()
	for name := range got.Header {
		if strings.Contains(name, "_") && name != "X_other" {
			t.Errorf("%s reached the upstream", name)
		}
	}
	if got.Header["X_other"] == nil {
		t.Error("a header that imitates none was dropped")
	}
}

// TestHopByHopHeadersStay: they speak of the client's connection, not of the call.
func TestHopByHopHeadersStay(t *testing.T) {
	m := new(mirror)
	b := start(t, setup{handler: m})
	b.post(message("ping", ""),
		"Connection", "X-Once, keep-alive", "X-Once", "1", "Keep-Alive", "timeout=5", "Te", "trailers", "Proxy-Connection", "keep-alive",
		"Proxy-Authorization", "Basic eDp5", "Proxy-Authenticate", "Basic", "Trailer", "X-Late", "Upgrade", "h2c")
	got, _ := m.seen()
	for _, name := range []string{"Connection", "X-Once", "Keep-Alive", "Te", "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate", "Trailer", "Transfer-Encoding", "Upgrade"} {
		if v := got.Header.Values(name); len(v) > 0 {
			t.Errorf("%s: %q reached the upstream", name, v)
		}
	}
}

// What an answer's Connection names is of the upstream's connection, also where that is closed.
func TestHopByHopHeadersOfAnAnswerStay(t *testing.T) {
	for _, connection := range []string{"close, X-Once", "X-Once", "close\r\nConnection: X-Once"} {
		b := start(t, setup{handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				panic(err)
			}
			defer conn.Close()
			answer := `{"jsonrpc":"2.0","id":1,"result":{}}`
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: %s\r\nX-Once: 1\r\nX-Other: 1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", connection, len(answer), answer)
		})})
		r := b.post(message("ping", ""))
		if r.status != 200 || r.header.Get("X-Other") != "1" || r.header.Get("X-Once") != "" || r.header.Get("Connection") != "" {
			t.Errorf("Connection: %s: got %v with %v", connection, r, r.header)
		}
	}
}

// TestCallersHeadersReachTheUpstream: credentials, parameters and what nobody knows
// yet are between the client and its server.
func TestCallersHeadersReachTheUpstream(t *testing.T) {
	m := new(mirror)
	b := start(t, setup{handler: m})
	headers := []string{
		"Authorization", "Bearer t", "Cookie", "a=1", "Cookie", "b=2", "Mcp-Param-Region", "=?base64?w7w=?=", "Mcp-Param-X", "", "Mcp-Future", "1",
		"Mcp-Name", " padded ", "Last-Event-Id", "e-1", "Idempotency-Key", "k", "Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"Accept-Language", "de", "X-Custom", "1", "X-Custom", "2", "User-Agent", "client/1",
	}
	b.post(message("ping", ""), headers...)
	got, _ := m.seen()
	want := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		want[headers[i]] = append(want[headers[i]], strings.Trim(headers[i+1], " "))
	}
	for name, values := range want {
		if !slices.Equal(got.Header[name], values) {
			t.Errorf("%s: got %q, want %q", name, got.Header[name], values)
		}
	}
	for name := range got.Header {
		switch name {
		case "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Via", "Accept-Encoding", "Accept", "Content-Type", "Content-Length":
		default:
			if want[name] == nil {
				t.Errorf("berth added %s: %q", name, got.Header[name])
			}
		}
	}
	if got.Header.Get("Accept-Encoding") != "identity" {
		t.Errorf("got Accept-Encoding %q, want identity: answers are looked into", got.Header.Get("Accept-Encoding"))
	}
	b.post(message("ping", ""), "User-Agent", "")
	if got, _ := m.seen(); got.UserAgent() != "" {
		t.Errorf("berth added User-Agent %q", got.UserAgent())
	}
}

func TestHostSentUpstream(t *testing.T) {
	for setting, want := range map[string]string{"": "localhost:1234", "forward": "localhost:1234", "upstream": "the upstream's", "mcp.internal:81": "mcp.internal:81"} {
		m := new(mirror)
		var address string
		b := start(t, setup{handler: m, endpoint: func(ep *proxy.Endpoint) {
			ep.Host = setting
			address = ep.Router.Pool.Upstreams()[0].URL.Host
		}})
		if want == "the upstream's" {
			want = address
		}
		for _, path := range []string{"/mcp", "/.well-known/x"} {
			b.send(map[bool]string{true: "POST", false: "GET"}[path == "/mcp"], path, message("ping", ""), "Host", "localhost:1234")
			if got, _ := m.seen(); got.Host != want {
				t.Errorf("host = %q, %s: got %q, want %q", setting, path, got.Host, want)
			}
		}
	}
}

// TestPrincipalIsBelievedFromTrustedPeersOnly, and nobody else's claim to be one
// gets as far as the upstream.
func TestPrincipalIsBelievedFromTrustedPeersOnly(t *testing.T) {
	distrust := func(o *proxy.Options) { o.TrustedProxies = nil }
	b := start(t, setup{principals: true, options: distrust})
	id := b.makeTask(userHeader, "alice")
	if r := b.modern("tasks/get", id, byID(id), userHeader, "bob"); r.parsed().Result.TaskID != id {
		t.Errorf("got %v: an untrusted peer's claims told two callers apart", r)
	}
	m := new(mirror)
	b = start(t, setup{handler: m, principals: true, options: distrust})
	b.post(message("ping", ""), userHeader, "alice")
	if got, _ := m.seen(); len(got.Header.Values(userHeader)) > 0 {
		t.Errorf("an untrusted peer's principal reached the upstream: %q", got.Header.Values(userHeader))
	}
	trusting := start(t, setup{handler: m, principals: true})
	trusting.post(message("ping", ""), userHeader, "alice")
	if got, _ := m.seen(); got.Header.Get(userHeader) != "alice" {
		t.Errorf("a trusted peer's principal did not reach the upstream: %q", got.Header.Values(userHeader))
	}
}
