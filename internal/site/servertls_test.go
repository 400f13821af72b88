package site

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/certs/certstest"
	"berth/internal/config"
	"berth/internal/exchange"
	"berth/internal/mcptest"
	"berth/internal/parts"
	"berth/internal/relay"
	"berth/internal/reload"
)

// A vault is the authority of one fleet, whose files lie in a folder.
type vault struct {
	*certstest.Authority
	t   *testing.T
	dir string
}

func newVault(t *testing.T) *vault {
	v := &vault{Authority: certstest.New(t), t: t, dir: t.TempDir()}
	certstest.Write(t, v.path("ca.pem"), v.PEM())
	v.show(v.Client(x509.Certificate{}))
	return v
}

func (v *vault) path(name string) string { return filepath.Join(v.dir, name) }

// show puts a certificate for clients in place.
func (v *vault) show(p certstest.Pair) {
	certstest.Write(v.t, v.path("cert.pem"), p.Cert)
	certstest.Write(v.t, v.path("key.pem"), p.Key)
}

// table is what makes a client of the fleet.
func (v *vault) table() config.ServerTLS {
	return config.ServerTLS{CA: v.path("ca.pem"), Cert: v.path("cert.pem"), Key: v.path("key.pem")}
}

// instance serves MCP to clients with a certificate of the authority alone.
func (v *vault) instance(name string) *httptest.Server {
	server := httptest.NewUnstartedServer(&mcptest.Server{})
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{v.Server(name).TLS(v.t)},
		ClientCAs:    v.Pool(), ClientAuth: tls.RequireAndVerifyClientCert,
	}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS()
	v.t.Cleanup(server.Close)
	return server
}

// Each instance is met by what its pool says of TLS, or itself.
func TestUpstreamsAreMetOverTheirTLS(t *testing.T) {
	ours, theirs := newVault(t), newVault(t)
	mine, foreign := ours.instance("inner"), theirs.instance("inner")
	named := func(table config.ServerTLS, name string) config.ServerTLS {
		table.ServerName = name
		return table
	}
	for _, c := range []struct {
		what           string
		pool, upstream config.ServerTLS
		url            string
		want           string // in the finding; "": there is none
	}{
		{"as the pool says", ours.table(), config.ServerTLS{}, mine.URL, ""},
		{"as the upstream says", ours.table(), theirs.table(), foreign.URL, ""},
		{"the pool's authority, a foreign instance", ours.table(), config.ServerTLS{}, foreign.URL, "unknown authority"},
		{"no certificate", config.ServerTLS{CA: ours.path("ca.pem")}, config.ServerTLS{}, mine.URL, "certificate required"},
		{"nothing of it", config.ServerTLS{}, config.ServerTLS{}, mine.URL, "unknown authority"},
		{"by its name", named(ours.table(), "inner"), config.ServerTLS{}, mine.URL, ""},
		{"by another name", named(ours.table(), "outer"), config.ServerTLS{}, mine.URL, "not outer"},
		{"the upstream's name over the pool's", named(ours.table(), "outer"), config.ServerTLS{ServerName: "inner"}, mine.URL, ""},
		{"a file that is not there", config.ServerTLS{CA: "/nonexistent/ca.pem"}, config.ServerTLS{}, mine.URL, "reading tls.ca: open /nonexistent/ca.pem"},
	} {
		cfg, pool := config.Default(), config.DefaultPool()
		pool.TLS = c.pool
		pool.Upstreams = []config.Upstream{{Name: "up", URL: c.url + "/mcp", TLS: c.upstream}}
		cfg.Pools = []config.Pool{pool}
		found := Inspect(t.Context(), cfg)
		switch {
		case c.want == "" && len(found) == 0:
		case c.want == "" || len(found) != 1 || !strings.Contains(fmt.Sprint(found[0]), c.want):
			t.Errorf("%s: got %v, want %q", c.what, found, c.want)
		}
	}
}

// The older transport goes the same way.
func TestServersOfHTTPWithSSEAreReachedOverTheirTLS(t *testing.T) {
	v := newVault(t)
	pool := config.DefaultPool()
	pool.TLS = v.table()
	target := "sse+" + v.instance("inner").URL + "/nowhere"
	pool.Upstreams = []config.Upstream{{Name: "up", URL: target}}
	g := &generation{site: &Site{mailbox: relay.New(nil, "", nil, nil), parts: parts.New()}}
	sender, err := g.newSender(pool)
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close()
	at, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	response, err := sender.Send(t.Context(), &exchange.Request{Method: "POST", URL: at, Body: body}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.Status/100 != 4 {
		t.Errorf("got %d, want what the instance says of a path that it does not have", response.Status)
	}
}

// A certificate that will not do any more is told in readiness, and takes nothing out of service.
func TestReadinessTellsOfTheUpstreamsTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVault(t)
		pool := config.DefaultPool()
		pool.TLS = v.table()
		pool.Upstreams = []config.Upstream{{URL: "https://127.0.0.1:1/mcp"}}
		s := &Site{parts: parts.New()}
		g := &generation{site: s}
		g.cfg.Pools = []config.Pool{pool}
		if _, err := g.newClient(pool); err != nil {
			t.Fatal(err)
		}
		s.now.Store(g)
		s.parts.Begin(t.Context())
		check := tlsChecks(s)[0]
		if ok, detail := check.Probe(); !ok || detail != "" || check.Name != "tls of pool default" {
			t.Errorf("got %s: %v, %q", check.Name, ok, detail)
		}
		certstest.Write(t, v.path("ca.pem"), []byte("half"))
		time.Sleep(reload.Every + time.Millisecond)
		synctest.Wait()
		if ok, detail := check.Probe(); !ok || !strings.Contains(detail, "tls.ca "+v.path("ca.pem")) {
			t.Errorf("got %v, %q, want ready, and key and file", ok, detail)
		}
	})
}
