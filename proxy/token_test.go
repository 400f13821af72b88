package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/certs/certstest"
	"berth/internal/identity"
	"berth/internal/identity/issuertest"
	"berth/proxy"
)

const (
	resourcePath = "/.well-known/oauth-protected-resource"
	// challenged is how each challenge for the endpoint of these tests ends.
	challenged = `resource_metadata="https://berth.test/.well-known/oauth-protected-resource/mcp"`
)

// tokens makes an endpoint let in those who bear a token of the issuer's.
func tokens(t *testing.T, issuer *issuertest.Issuer) func(*proxy.Endpoint) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.json")
	certstest.Write(t, path, issuer.KeySet())
	keys, err := identity.OpenKeyFile("auth.jwt.jwks", path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return withKeys(t, keys)
}

func withKeys(t *testing.T, keys identity.Keys) func(*proxy.Endpoint) {
	t.Helper()
	u, err := url.Parse(issuertest.Audience)
	if err != nil {
		t.Fatal(err)
	}
	resource := identity.Resource{URL: u, AuthorizationServers: []string{issuertest.Name}}
	return func(ep *proxy.Endpoint) {
		ep.Identifier = &identity.JWT{Issuer: issuertest.Name, Algorithms: []string{"RS256", "ES256"}, Resource: resource, Keys: keys}
		ep.Resource = &proxy.Resource{Path: resource.MetadataPath(), Document: resource.Metadata()}
		ep.Router.Principals = true
	}
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// TestRefreshedTokenKeepsItsTasks: another token of the same subject is the same
// caller, a token of another subject is not, and learns nothing.
func TestRefreshedTokenKeepsItsTasks(t *testing.T) {
	issuer := issuertest.Make(t)
	b := start(t, setup{endpoint: tokens(t, issuer)})
	id := b.makeTask(bearer(issuer.Token("alice"))...)
	fresh := issuer.Sign("RS256", "rsa", nil, issuertest.Claims("alice", map[string]any{"jti": "2", "exp": time.Now().Unix() + 7200}))
	if r := b.modern("tasks/get", id, byID(id), bearer(fresh)...); r.parsed().Result.TaskID != id {
		t.Errorf("with a fresh token: got %v, want the task", r)
	}
	before := b.contacted()
	poll := func(id string) string {
		return b.bytesOf(http.MethodPost, modernMessage("tasks/get", byID(id)), append(modernHeader("tasks/get", id), bearer(issuer.Token("mallory"))...)...)
	}
	if foreign, unknown := poll(id), poll(unknownLike(id)); foreign != unknown || !strings.Contains(foreign, "-32602") {
		t.Errorf("another subject:\n%s\nwant, as for an unknown id:\n%s", foreign, unknown)
	}
	if n := b.contacted() - before; n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

// TestRequestsWithoutAGoodTokenReachNoUpstream: they are told where to get one.
func TestRequestsWithoutAGoodTokenReachNoUpstream(t *testing.T) {
	issuer := issuertest.Make(t)
	b := start(t, setup{endpoint: tokens(t, issuer)})
	expired := issuer.Sign("ES256", "ec", nil, issuertest.Claims("alice", map[string]any{"exp": 1}))
	huge := issuer.Sign("ES256", "ec", nil, issuertest.Claims("alice", map[string]any{"x": strings.Repeat("x", 12<<10)}))
	for name, c := range map[string]struct {
		header []string
		want   string
	}{
		"none":    {nil, "Bearer " + challenged},
		"forged":  {bearer(issuertest.Make(t).Token("alice")), `Bearer error="invalid_token", error_description="the token's signature does not verify", ` + challenged},
		"16 kB":   {bearer(huge), `Bearer error="invalid_token", error_description="the token is too long", ` + challenged},
		"expired": {bearer(expired), `Bearer error="invalid_token", error_description="the token has expired", ` + challenged},
	} {
		for method, body := range map[string]string{http.MethodPost: message("ping", ""), http.MethodGet: "", http.MethodDelete: ""} {
			r := b.send(method, "/mcp", body, append([]string{"Mcp-Session-Id", "s"}, c.header...)...)
			if r.status != http.StatusUnauthorized || r.header.Get("WWW-Authenticate") != c.want || r.code() != -32600 || r.parsed().ID != nil {
				t.Errorf("%s, %s: got %v, %q, want 401, %q", name, method, r, r.header.Get("WWW-Authenticate"), c.want)
			}
			if record := b.record(); record["outcome"] != "refused" {
				t.Errorf("%s, %s: got record %v, want it refused", name, method, record)
			}
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

// TestBodyOfAStrangerIsNotReadOn: 4 MiB that nobody asked for are not waited for.
func TestBodyOfAStrangerIsNotReadOn(t *testing.T) {
	b := start(t, setup{endpoint: tokens(t, issuertest.Make(t))})
	conn := b.dial()
	fmt.Fprint(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{")
	all, err := io.ReadAll(conn)
	if text := string(all); err != nil || !strings.HasPrefix(text, "HTTP/1.1 401 ") || !strings.Contains(text, "\r\nConnection: close\r\n") {
		t.Errorf("got %v,\n%s\nwant 401 and the end of the connection", err, text)
	}
}

// TestConnectionGoesOnAfterARefusal: the same client comes back with a token.
func TestConnectionGoesOnAfterARefusal(t *testing.T) {
	issuer := issuertest.Make(t)
	b := start(t, setup{endpoint: tokens(t, issuer)})
	conn := b.dial()
	fmt.Fprint(conn, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
	fmt.Fprintf(conn, "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n", issuer.Token("alice"))
	all, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(all); !strings.HasPrefix(text, "HTTP/1.1 401 ") || strings.Count(text, "HTTP/1.1 ") != 2 || strings.Count(text, " 401 ") != 1 {
		t.Errorf("got\n%s\nwant 401 and another answer", text)
	}
}

// TestKeysThatAreAwayRefuseNobody: a client that is refused logs in again, in vain.
func TestKeysThatAreAwayRefuseNobody(t *testing.T) {
	keys := identity.NewKeyFetcher(identity.FetcherOptions{URL: "http://127.0.0.1:1/keys"})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = keys.Run(t.Context())
	}()
	t.Cleanup(func() { <-done })
	b := start(t, setup{endpoint: withKeys(t, keys)})
	r := b.post(message("ping", ""), bearer(issuertest.Make(t).Token("alice"))...)
	got := r.parsed().Error
	if r.status != http.StatusServiceUnavailable || got.Code != -31503 || got.Data.Reason != "keys_unavailable" || !got.Data.Retryable || r.header.Get("Retry-After") == "" {
		t.Errorf("got %v, %v, want 503 -31503 keys_unavailable", r, r.header)
	}
	if challenge := r.header.Get("WWW-Authenticate"); challenge != "" {
		t.Errorf("got challenge %q, which makes clients log in again", challenge)
	}
}

// TestWhatComesBeforeAuthorizationNeedsNone: preflights, and documents that tell how
// to get a token.
func TestWhatComesBeforeAuthorizationNeedsNone(t *testing.T) {
	b := start(t, setup{endpoint: tokens(t, issuertest.Make(t)), handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "upstream's "+r.URL.Path)
	})})
	document := `{"resource":"https://berth.test/mcp","authorization_servers":["https://issuer.test"],"bearer_methods_supported":["header"]}`
	for _, c := range []struct {
		method, path string
		status       int
		want         string
	}{
		{http.MethodOptions, "/mcp", 200, "upstream's /mcp"},
		{http.MethodGet, "/.well-known/oauth-authorization-server", 200, "upstream's /.well-known/oauth-authorization-server"},
		{http.MethodGet, resourcePath, 200, document},
		{http.MethodGet, resourcePath + "/mcp", 200, document},
		{http.MethodHead, resourcePath + "/mcp", 200, ""},
		{http.MethodOptions, resourcePath + "/mcp", 204, ""},
		{http.MethodGet, resourcePath + "/other", 404, ""},
		{http.MethodPost, resourcePath, 405, ""},
	} {
		r := b.send(c.method, c.path, "")
		if r.status != c.status || c.status == 200 && r.body != c.want {
			t.Errorf("%s %s: got %v, want %d %s", c.method, c.path, r, c.status, c.want)
		}
		if c.want == document && (r.header.Get("Content-Type") != "application/json" || r.header.Get("Access-Control-Allow-Origin") != "*") {
			t.Errorf("%s %s: got header %v, want JSON for everybody", c.method, c.path, r.header)
		}
	}
	if n := b.contacted(); n != 2 {
		t.Errorf("upstreams saw %d requests, want 2", n)
	}
}

// TestOnlyAPostHasABodyWithPrincipals: what berth does not read, nobody else is to take
// for a call, neither without a token nor past the look at whose a task is.
func TestOnlyAPostHasABodyWithPrincipals(t *testing.T) {
	issuer := issuertest.Make(t)
	b := start(t, setup{endpoint: tokens(t, issuer)})
	for _, c := range []struct{ method, path string }{
		{http.MethodOptions, "/mcp"},
		{http.MethodGet, "/.well-known/oauth-authorization-server"},
		{http.MethodGet, "/mcp"},
		{http.MethodDelete, "/mcp"},
	} {
		if r := b.send(c.method, c.path, message("tools/call", `"name":"x"`), bearer(issuer.Token("alice"))...); r.status != 400 {
			t.Errorf("%s %s: got %v", c.method, c.path, r)
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

// TestDocumentOfSeveralEndpointsIsFoundByItsPathOnly.
func TestDocumentOfSeveralEndpointsIsFoundByItsPathOnly(t *testing.T) {
	b := start(t, setup{endpoint: tokens(t, issuertest.Make(t)), options: func(o *proxy.Options) {
		first := o.Endpoints[0]
		o.Endpoints = append(o.Endpoints, &proxy.Endpoint{
			Path: "/other", Identifier: first.Identifier, Router: first.Router, Client: first.Client,
			Resource: &proxy.Resource{Path: resourcePath + "/other", Document: []byte(`"other's"`)},
		}, &proxy.Endpoint{
			Path: "/other", Hosts: []string{"apart.localhost"}, Identifier: first.Identifier, Router: first.Router, Client: first.Client,
			Resource: &proxy.Resource{Path: resourcePath + "/x/y", Document: []byte(`"apart"`)},
		})
	}})
	for _, c := range []struct{ host, path, want string }{
		{"localhost", resourcePath + "/other", `"other's"`},
		{"localhost", resourcePath, ""},
		{"apart.localhost", resourcePath, `"apart"`},
		{"apart.localhost", resourcePath + "/x/y", `"apart"`},
	} {
		r := b.send(http.MethodGet, c.path, "", "Host", c.host)
		if (r.status == http.StatusNotFound) != (c.want == "") || c.want != "" && r.body != c.want {
			t.Errorf("%s%s: got %v, want %q", c.host, c.path, r, c.want)
		}
	}
}

// TestClientInABrowserReadsTheChallenge: scripts see an answer's header only if they
// are let.
func TestClientInABrowserReadsTheChallenge(t *testing.T) {
	b := start(t, setup{endpoint: tokens(t, issuertest.Make(t))})
	r := b.post(message("ping", ""), "Origin", "http://localhost:6274")
	if r.status != http.StatusUnauthorized || r.header.Get("Access-Control-Allow-Origin") != "http://localhost:6274" ||
		!strings.Contains(r.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") || r.header.Get("Vary") != "Origin" {
		t.Errorf("got %v, %v, want 401 that a script may read", r, r.header)
	}
	if r := b.post(message("ping", ""), "Origin", "http://evil.test"); r.status != http.StatusForbidden || r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a foreign origin: got %v, %v, want 403", r, r.header)
	}
}

// TestTokensAppearNowhere: whatever is wrong with them.
func TestTokensAppearNowhere(t *testing.T) {
	issuer := issuertest.Make(t)
	b := start(t, setup{endpoint: tokens(t, issuer)})
	for _, token := range []string{
		issuer.Token("canary"),
		issuer.Sign("ES256", "ec", nil, issuertest.Claims("canary", map[string]any{"exp": 1})),
		issuer.Sign("ES256", "ec", map[string]any{"kid": "canary"}, issuertest.Claims("canary", nil)),
		issuer.Sign("none", "canary", nil, issuertest.Claims("canary", map[string]any{"iss": "canary"})),
	} {
		b.post(message("ping", ""), bearer(token)...)
		b.record()
		if text := b.logs.String() + dump(t, b.collect()); strings.Contains(text, "canary") || strings.Contains(text, token[20:40]) {
			t.Errorf("something of the token is in\n%s", text)
		}
	}
}
