package command

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"berth/internal/certs/certstest"
	"berth/internal/config"
	"berth/internal/realtest"
)

// secured is a berth whose admin listener speaks TLS, and asks for certificates.
func secured(t *testing.T) (url, dir string) {
	t.Helper()
	dir = t.TempDir()
	authority := certstest.New(t)
	server, client := authority.Server("127.0.0.1"), authority.Client(x509.Certificate{})
	certstest.Write(t, filepath.Join(dir, "ca.pem"), authority.PEM())
	certstest.Write(t, filepath.Join(dir, "cert.pem"), server.Cert)
	certstest.Write(t, filepath.Join(dir, "key.pem"), server.Key)
	certstest.Write(t, filepath.Join(dir, "client.pem"), append(bytes.Clone(client.Cert), client.Key...))
	instance := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(instance.Close)
	cfg, pool := config.Default(), config.DefaultPool()
	pool.Upstreams = []config.Upstream{{Name: "a", URL: instance.URL + "/mcp"}}
	cfg.Listen, cfg.Pools, cfg.Store.URL = "127.0.0.1:0", []config.Pool{pool}, "memory:"
	cfg.Admin.Listen = "127.0.0.1:0"
	cfg.Admin.TLS = config.AdminTLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), ClientCA: filepath.Join(dir, "ca.pem")}
	ctx, stop := context.WithCancel(t.Context())
	var logs realtest.Journal
	over := make(chan error, 1)
	go func() { over <- serve(ctx, reading{}, cfg, nil, &logs) }()
	t.Cleanup(func() { stop(); <-over })
	listens := regexp.MustCompile(`"msg":"admin listening","address":"([^"]+)"`)
	realtest.Eventually(t, "the admin listener is there", func() bool { return listens.MatchString(logs.String()) })
	return "https://" + listens.FindStringSubmatch(logs.String())[1], dir
}

func TestOperatorsReachABerthByTLS(t *testing.T) {
	url, dir := secured(t)
	ask := func(args ...string) (string, error) {
		var out bytes.Buffer
		app := newApp(&out, &out)
		err := app.Run(append([]string{"berth", "upstreams", "--admin", url}, args...))
		return out.String(), err
	}
	ca, client := "--admin-ca="+filepath.Join(dir, "ca.pem"), "--admin-cert="+filepath.Join(dir, "client.pem")
	if out, err := ask(ca, client); err != nil || !strings.Contains(out, "default/a") {
		t.Errorf("with authority and certificate: %v, %q", err, out)
	}
	for name, args := range map[string][]string{"the system's authorities": {client}, "no certificate": {ca}} {
		if out, err := ask(args...); err == nil || !strings.Contains(err.Error(), "--admin-ca for who has signed") {
			t.Errorf("with %s: %q, %v", name, out, err)
		}
	}
	if _, err := ask("--admin=" + strings.TrimPrefix(url, "https://")); err == nil || !strings.Contains(err.Error(), "it is https://") {
		t.Errorf("without TLS: %v", err)
	}
	var coded interface{ ExitCode() int }
	const meansNothing = 2 // docs/cli.md
	if _, err := ask("--admin=127.0.0.1:1", ca); !errors.As(err, &coded) || coded.ExitCode() != meansNothing {
		t.Errorf("an authority without https: %v", err)
	}
}
