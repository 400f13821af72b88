package storage_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// D18 for a cluster: its nodes are verified under the addresses that it hands out.
func TestClusterOverTLS(t *testing.T) {
	t.Parallel()
	shown, stranger := certificate(t, time.Hour), certificate(t, time.Hour)
	cert, key := writePEM(t, shown)
	port := freePort(t)
	cluster := redistest.StartCluster(t, 1, 0, "--tls-cluster", "yes", "--tls-port", port,
		"--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no",
		"--cluster-announce-ip", "127.0.0.1") // which a node that met no other does not know
	put(t, open(t, cluster.URL(), storage.Options{}), "k", "v")
	for _, tc := range []struct {
		name   string
		roots  tls.Certificate
		query  string
		served bool
	}{
		{name: "trusted", roots: shown, served: true},
		{name: "unknown root", roots: stranger},
		{name: "unverified", roots: stranger, query: "?skip_verify=true", served: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			roots := x509.NewCertPool()
			roots.AddCert(tc.roots.Leaf)
			var log realtest.Journal
			s := open(t, "rediss+cluster://127.0.0.1:"+port+tc.query,
				storage.Options{Logger: logger(&log), TLS: trusting(roots)})
			if !tc.served {
				_, err := s.Get(t.Context(), "k")
				unavailable(t, err, "other")
				return
			}
			if !reads(t, s, "k", "v") {
				t.Errorf("not read: %s", s.Health().LastError)
			}
		})
	}
}

// writePEM writes a certificate and its key to files.
func writePEM(t *testing.T, c tls.Certificate) (cert, key string) {
	t.Helper()
	private, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", c.Certificate[0]), write("key.pem", "PRIVATE KEY", private)
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// trusting secures connections by roots.
func trusting(roots *x509.CertPool) func(host string) *tls.Config {
	return func(host string) *tls.Config { return &tls.Config{RootCAs: roots, ServerName: host} }
}
