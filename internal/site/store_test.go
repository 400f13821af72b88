package site

import (
	"context"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/certs/certstest"
	"berth/internal/config"
	"berth/internal/realtest"
	"berth/internal/storage/redistest"
)

// redisOverTLS starts a server that lets in who shows a certificate of v's, and returns its URL.
func redisOverTLS(t *testing.T, v *vault) string {
	t.Helper()
	pair := v.Server("redis.inner")
	certstest.Write(t, v.path("server.pem"), pair.Cert)
	certstest.Write(t, v.path("server-key.pem"), pair.Key)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(address)
	redistest.Start(t, "--tls-port", port, "--tls-cert-file", v.path("server.pem"), "--tls-key-file", v.path("server-key.pem"),
		"--tls-ca-cert-file", v.path("ca.pem"), "--tls-auth-clients", "yes")
	return "rediss://" + address + "/0"
}

// The store is reached by what the file says of TLS, and told of where it cannot be.
func TestStoreIsReachedOverItsTLS(t *testing.T) {
	t.Parallel()
	v, foreign := newVault(t), newVault(t)
	url := redisOverTLS(t, v)
	named := v.table()
	named.ServerName = "redis.inner"
	wrong := v.table()
	wrong.ServerName = "redis.outer"
	for _, c := range []struct {
		what string
		tls  config.ServerTLS
		want string // in what check --online finds; "": nothing
	}{
		{"authority and certificate", v.table(), ""},
		{"and a name", named, ""},
		{"another name", wrong, "redis.outer"},
		{"a foreign authority", config.ServerTLS{CA: foreign.path("ca.pem"), Cert: v.path("cert.pem"), Key: v.path("key.pem")}, "unknown authority"},
		{"no certificate", config.ServerTLS{CA: v.path("ca.pem")}, "store.url: "},
		{"no file", config.ServerTLS{CA: "/nonexistent"}, "store.tls: reading store.tls.ca: open /nonexistent"},
	} {
		cfg := config.Default().Store
		cfg.URL, cfg.TLS = config.Secret(url), c.tls
		var found []string
		for _, f := range lookAtStore(cfg).see(t.Context()) {
			if !f.Warning && !strings.Contains(f.Text, "maxmemory-policy") {
				found = append(found, f.String())
			}
		}
		if got := strings.Join(found, "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
}

// A store that berth opens takes over a renewed certificate, and its URL from a file.
func TestStoreFollowsTheFilesOfItsTLS(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	cfg := config.Default()
	cfg.Store.URLFile, cfg.Store.TLS = filepath.Join(v.dir, "url"), v.table()
	if err := os.WriteFile(cfg.Store.URLFile, []byte(redisOverTLS(t, v)+"?pool_size=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	right := v.Client(x509.Certificate{})
	v.show(certstest.New(t).Client(x509.Certificate{})) // of nobody whom the server knows
	store, err := OpenStore(t.Context(), cfg, Observers{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Ping(t.Context()); err == nil {
		t.Fatal("a stranger's certificate is let in")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = store.trust.run(ctx) }()
	v.show(right)
	realtest.Eventually(t, "the renewed certificate is shown", func() bool { return store.Ping(t.Context()) == nil })
}

func TestStoreURLFileIsNotRepeated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "url")
	cfg := config.Default()
	cfg.Store.URLFile = path
	for content, want := range map[string]string{"redis://:canary@": "store.url_file: storage: ", "canary": "store.url_file: storage: ", "": "store.url_file: storage: "} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenStore(t.Context(), cfg, Observers{}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: got %v", content, err)
		}
	}
	cfg.Store.URLFile = path + "x"
	if _, err := OpenStore(t.Context(), cfg, Observers{}); err == nil || !strings.Contains(err.Error(), "opening store.url_file: open "+path) {
		t.Errorf("no file: got %v", err)
	}
}
