package certs_test

import (
	"crypto/x509"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/certs"
	"berth/internal/certs/certstest"
)

// A file that is half written is not taken over: clients would be shown a certificate without its chain.
func TestAHalfWrittenChainIsNotTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, certs.Options{}, nil)
		next, chain := s.root.Server("second"), s.root.PEM()
		s.write("key.pem", next.Key)
		s.write("cert.pem", append(append([]byte(nil), next.Cert...), chain[:len(chain)/2]...))
		s.settle()
		if got := s.shown(); got != "first" {
			t.Errorf("half written: got %s, want first", got)
		}
		s.write("cert.pem", append(append([]byte(nil), next.Cert...), chain...))
		s.settle()
		if got, fault := s.shown(), s.certs.Fault(); got != "second" || fault != "" {
			t.Errorf("whole: got %s, fault %q", got, fault)
		}
	})
}

// Nor is that which servers are shown.
func TestAHalfWrittenChainForServersIsRefused(t *testing.T) {
	dir, authority := t.TempDir(), certstest.New(t)
	shown, chain := authority.Client(x509.Certificate{}), authority.PEM()
	o := certs.TrustOptions{Table: "tls", Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	certstest.Write(t, o.Key, shown.Key)
	for half, want := range map[bool]string{true: "of 2 certificates 1 cannot be read", false: ""} {
		if half {
			certstest.Write(t, o.Cert, append(append([]byte(nil), shown.Cert...), chain[:len(chain)/2]...))
		} else {
			certstest.Write(t, o.Cert, append(append([]byte(nil), shown.Cert...), chain...))
		}
		_, err := certs.OpenTrust(o)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("half %v: got %v", half, err)
		}
	}
}
