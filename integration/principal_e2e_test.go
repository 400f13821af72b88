//go:build e2e

package integration

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/certs/certstest"
	"berth/internal/identity/issuertest"
)

// bearing sends each request with a token.
type bearing struct {
	next  http.RoundTripper
	token string
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// newBearer is a client with a token.
func newBearer(t testing.TB, token string) *modernClient {
	t.Helper()
	client := newModernClient(t)
	client.http.Transport = bearing{client.http.Transport, token}
	return client
}

// wantForeignLikeUnknown fails the test if a stranger can tell another's task from one
// that does not exist.
func wantForeignLikeUnknown(t testing.TB, stranger *modernClient, url, taskID string) {
	t.Helper()
	foreign, err := stranger.poll(t, url, taskID)
	if err != nil {
		t.Fatal(err)
	}
	unknown, err := stranger.poll(t, url, strings.Repeat("0", len(taskID)))
	if err != nil {
		t.Fatal(err)
	}
	if foreign.status != http.StatusOK || foreign.Error.Code != -32602 || foreign.String() != unknown.String() {
		t.Errorf("another's task: got %v, want, as for an unknown one, %v", foreign, unknown)
	}
}

// Two subjects before one fleet: each has its own tasks, with whichever token.
func TestTokensTellCallersApart(t *testing.T) {
	t.Parallel()
	issuer := issuertest.New(t)
	issuer.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	fleet := startLocalFleet(t, nil)
	b := startWatched(t, fleet.fleet, "--config", configFile(t, fmt.Sprintf(
		"[auth]\nprincipal = \"jwt\"\n[auth.jwt]\nissuer = %q\njwks = %q\nresource = \"https://berth.test\"\n[[pools]]\n", issuertest.Name, issuer.URL)))

	alice := newBearer(t, issuer.Token("alice"))
	early, err := alice.send(t, b.url(), "tools/call", "greet", map[string]any{"name": "greet"})
	if err != nil || early.status != http.StatusServiceUnavailable || early.Error.Code != -31503 || early.Error.Data.Reason != "keys_unavailable" {
		t.Errorf("before the issuer answers: got %v, %v, want 503 keys_unavailable", early, err)
	}
	if status, text := fetch(t, b.admin+"/readyz?verbose"); status != http.StatusServiceUnavailable || !strings.Contains(text, "[-]jwks") {
		t.Errorf("before the issuer answers: got /readyz %d %s, want not ready for jwks", status, text)
	}
	issuer.Answer(nil)
	if !await(t, readyWithin, func() bool { status, _ := fetch(t, b.admin+"/readyz"); return status == http.StatusOK }) {
		t.Fatal("not ready though the issuer answers")
	}

	made := alice.create(t, b.url(), 600)
	fresh := newBearer(t, issuer.Sign("RS256", "rsa", nil, issuertest.Claims("alice", map[string]any{"jti": "2"})))
	if got := fresh.get(t, b.url(), made.TaskID); got != made {
		t.Errorf("with a fresh token: got %v, want %v", got, made)
	}
	wantForeignLikeUnknown(t, newBearer(t, issuer.Token("mallory")), b.url(), made.TaskID)

	nobody, err := newModernClient(t).poll(t, b.url(), made.TaskID)
	challenge := nobody.header.Get("WWW-Authenticate")
	if err != nil || nobody.status != http.StatusUnauthorized || strings.Contains(challenge, "error=") {
		t.Errorf("without a token: got %v, %v, %q, want 401 and no error", nobody, err, challenge)
	}
	place := "https://berth.test/.well-known/oauth-protected-resource/mcp"
	if !strings.Contains(challenge, `resource_metadata="`+place+`"`) {
		t.Errorf("got challenge %q, want %s in it", challenge, place)
	}
	if status, text := fetch(t, b.base+strings.TrimPrefix(place, "https://berth.test")); status != http.StatusOK ||
		!strings.Contains(text, `"resource":"https://berth.test/mcp","authorization_servers":["`+issuertest.Name+`"]`) {
		t.Errorf("got %d %s, want the resource's document", status, text)
	}
	if n := b.metric(t, "berth_jwks_keys"); n != 3 {
		t.Errorf("keys: got %d, want 3", n)
	}
	if n := b.metric(t, "berth_jwks_fetches_total", `outcome="ok"`); n != 1 {
		t.Errorf("fetches: got %d, want 1", n)
	}
	if log := b.settled(); strings.Contains(log, "alice") || strings.Contains(log, "mallory") {
		t.Error("a principal is in the log")
	}
}

// site is the files of a listener's certificates.
type site struct {
	dir     string
	root    *certstest.Authority // of the server's certificate
	clients *certstest.Authority // of its clients'
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{dir: t.TempDir(), root: certstest.New(t), clients: certstest.New(t)}
	certstest.Write(t, s.path("ca.pem"), s.clients.PEM())
	s.show(t, "first")
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

// show puts a new certificate of that name into the files.
func (s *site) show(t testing.TB, name string) {
	t.Helper()
	pair := s.root.Server(name)
	certstest.Write(t, s.path("cert.pem"), pair.Cert)
	certstest.Write(t, s.path("key.pem"), pair.Key)
}

// client is a client that shows these certificates.
func (s *site) client(t testing.TB, pairs ...certstest.Pair) *modernClient {
	t.Helper()
	config := &tls.Config{RootCAs: s.root.Pool()}
	for _, p := range pairs {
		cert := p.TLS(t)
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	}
	client := newModernClient(t)
	client.http.Transport = &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
	return client
}

// spiffe is a certificate's template that names a workload.
func spiffe(name string) x509.Certificate {
	return x509.Certificate{URIs: []*url.URL{{Scheme: "spiffe", Host: "example.org", Path: "/" + name}}}
}

// Two workloads before one fleet: each has its own tasks, with whichever certificate.
func TestCertificatesTellCallersApart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	fleet := startLocalFleet(t, nil)
	b := startWatched(t, fleet.fleet, "--config", configFile(t, fmt.Sprintf(
		"[tls]\ncert = %q\nkey = %q\nclient_ca = %q\n[auth]\nprincipal = \"cert\"\n[[pools]]\n", s.path("cert.pem"), s.path("key.pem"), s.path("ca.pem"))))
	b.base = strings.Replace(b.base, "http://", "https://", 1)

	alice := s.client(t, s.clients.Client(spiffe("alice")))
	made := alice.create(t, b.url(), 600)
	renewed := s.client(t, s.clients.Client(spiffe("alice")))
	if got := renewed.get(t, b.url(), made.TaskID); got != made {
		t.Errorf("with a renewed certificate: got %v, want %v", got, made)
	}
	wantForeignLikeUnknown(t, s.client(t, s.clients.Client(spiffe("mallory"))), b.url(), made.TaskID)
	if got, err := s.client(t, s.clients.Client(x509.Certificate{})).poll(t, b.url(), made.TaskID); err != nil || got.status != http.StatusForbidden {
		t.Errorf("with a certificate without a name: got %v, %v, want 403", got, err)
	}
	for name, client := range map[string]*modernClient{
		"no certificate": s.client(t), "a foreign one": s.client(t, certstest.New(t).Client(spiffe("alice"))),
	} {
		if got, err := client.poll(t, b.url(), made.TaskID); err == nil {
			t.Errorf("with %s: got %v, want no connection", name, got)
		}
	}
	for _, server := range fleet.servers {
		if h := server.LastHeader("tools/call"); h != nil && h.Get("X-Forwarded-Proto") != "https" {
			t.Errorf("upstreams see X-Forwarded-Proto %q, want https", h.Get("X-Forwarded-Proto"))
		}
	}

	s.show(t, "second")
	if !await(t, healedWithin, func() bool { return s.shown(t, alice, b) == "second" }) {
		t.Error("the renewed certificate is not shown")
	}
	if n := b.metric(t, "berth_tls_certificate_expiry_seconds"); n < 1e9 {
		t.Errorf("expiry of the certificate: got %d, want a time to come", n)
	}
	if n := b.metric(t, "berth_tls_handshakes_total", `outcome="failed"`); n < 2 {
		t.Errorf("failed handshakes: got %d, want 2 or more", n)
	}
	if n := b.metric(t, "berth_reloads_total", `what="tls"`, `outcome="ok"`); n != 1 {
		t.Errorf("reloads: got %d, want 1", n)
	}
}

// TLS hides nothing of what berth watches a connection for: a client that hangs up has
// cancelled its call.
func TestHangUpOverTLSCancelsTheCall(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	arrived, gone := make(chan struct{}), make(chan struct{})
	fleet := startLocalFleet(t, func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.Header.Get("Mcp-Method") != "tools/call" {
			return false
		}
		close(arrived)
		<-r.Context().Done()
		close(gone)
		return true
	})
	b := startBerth(t, fleet.fleet, "--config", configFile(t, fmt.Sprintf("[tls]\ncert = %q\nkey = %q\n[[pools]]\n", s.path("cert.pem"), s.path("key.pem"))))
	ctx, hangUp := context.WithCancel(t.Context())
	call := modernRequest(t, strings.Replace(b.url(), "http://", "https://", 1), "tools/call", "greet", map[string]any{"name": "greet"}).WithContext(ctx)
	go func() {
		<-arrived
		hangUp()
	}()
	if response, err := s.client(t).http.Do(call); err == nil {
		response.Body.Close()
		t.Errorf("got %s, want no answer", response.Status)
	}
	select {
	case <-gone:
	case <-t.Context().Done():
	case <-time.After(healedWithin):
		t.Error("the upstream still works for a client that is gone")
	}
}

// shown is the common name of the certificate that berth shows.
func (s *site) shown(t testing.TB, client *modernClient, b *watched) string {
	t.Helper()
	response, err := client.http.Get(b.base + "/nowhere")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // only the handshake matters
	return response.TLS.PeerCertificates[0].Subject.CommonName
}

// Whoever starts berth learns at once which key and file is wrong; whoever checks the
// file on another machine is not asked for the files that it names.
func TestMissingCertificateIsNamedAtTheStart(t *testing.T) {
	t.Parallel()
	path := configFile(t, "listen = \"127.0.0.1:0\"\n[tls]\ncert = \"nowhere.pem\"\nkey = \"nowhere.key\"\n"+
		"[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:9/mcp\"\n")
	if got := runBerth(t, "serve", "--config", path); got.code != 1 || !strings.Contains(got.stderr, "tls.cert") || !strings.Contains(got.stderr, "nowhere.pem") {
		t.Errorf("serve: got %d %q, want 1, key and file", got.code, got.stderr)
	}
	if got := runBerth(t, "check", path); got.code != 0 {
		t.Errorf("check: got %d %q, want 0", got.code, got.stderr)
	}
}
