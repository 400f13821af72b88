package certs_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/certs"
	"berth/internal/certs/certstest"
)

func TestRenewedCertificateIsShownWithoutARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, certs.Options{}, nil)
		if got := s.shown(); got != "first" {
			t.Errorf("got %s, want first", got)
		}
		s.show(s.root.Server("second"))
		s.settle()
		if got := s.shown(); got != "second" {
			t.Errorf("after the files changed: got %s, want second", got)
		}
	})
}

// TestUnusableFilesLeaveWhatWasThere: half a pair, nonsense, no file at all.
func TestUnusableFilesLeaveWhatWasThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, certs.Options{}, nil)
		s.write("cert.pem", s.root.Server("second").Cert)
		s.settle()
		s.settle()
		if got := s.shown(); got != "first" {
			t.Errorf("half a pair: got %s, want first", got)
		}
		if got := s.certs.Fault(); !strings.Contains(got, "tls.key") || !strings.Contains(got, s.path("key.pem")) {
			t.Errorf("got fault %q, want one that names key and file", got)
		}
		if n := strings.Count(s.logs.String(), "cannot be used"); n != 1 {
			t.Errorf("logged %d times, want once:\n%s", n, &s.logs)
		}
		if got := s.reloads(); got["failed"] != 1 || got["ok"] != 0 {
			t.Errorf("counted %v, want 1 failed", got)
		}
		s.show(s.root.Server("third"))
		s.settle()
		if got := s.shown(); got != "third" {
			t.Errorf("mended: got %s, want third", got)
		}
		if got := s.certs.Fault(); got != "" {
			t.Errorf("mended: got fault %q, want none", got)
		}
	})
}

// A pair that has expired takes the place of one that has as well, and of no other.
func TestExpiredPairTakesNoGoodOnesPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, certs.Options{}, nil)
		expired := x509.Certificate{Subject: pkix.Name{CommonName: "expired"}, DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(-time.Minute), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
		s.show(s.root.Issue(expired))
		s.settle()
		if got, fault := s.shown(), s.certs.Fault(); got != "first" || !strings.Contains(fault, "expired") {
			t.Errorf("shown is %q, told %q", got, fault)
		}
		time.Sleep(25 * time.Hour)
		late := expired
		late.NotAfter = time.Now().Add(-time.Second)
		s.show(s.root.Issue(late))
		s.settle()
		if logs := s.logs.String(); !strings.Contains(logs, "are in use") {
			t.Errorf("of two that have expired: %s", logs)
		}
	})
}

// Nor does it where the configuration is read anew.
func TestExpiredPairIsRefusedWhenFilesAreReadAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, certs.Options{}, nil)
		s.show(s.root.Issue(x509.Certificate{NotAfter: time.Now().Add(-time.Minute)}))
		files := certs.Options{Cert: s.path("cert.pem"), Key: s.path("key.pem")}
		if _, err := s.certs.Read(files); err == nil || !strings.Contains(err.Error(), "tls.cert: the certificate expired at ") {
			t.Errorf("got %v, want that it has expired", err)
		}
		if got := s.shown(); got != "first" {
			t.Errorf("shown is %q", got)
		}
		time.Sleep(25 * time.Hour)
		if _, err := s.certs.Read(files); err != nil {
			t.Errorf("of two that have expired: %v", err)
		}
	})
}

func TestExpiredCertificateIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, certs.Options{}, nil)
		if got := s.certs.Fault(); got != "" {
			t.Errorf("got fault %q, want none", got)
		}
		time.Sleep(25 * time.Hour)
		if got := s.certs.Fault(); !strings.Contains(got, "expired") {
			t.Errorf("got fault %q, want that it has expired", got)
		}
	})
}

func TestClientsAreLetInByCertificatesOfTheAuthorityOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, foreign := certstest.New(t), certstest.New(t)
		s := newSite(t, certs.Options{}, ours)
		expired := named("spiffe://test/a")
		expired.NotAfter = time.Now().Add(-time.Minute)
		server := named("spiffe://test/a")
		server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		for name, c := range map[string]struct {
			pairs []certstest.Pair
			in    bool
		}{
			"none":        {nil, false},
			"ours":        {[]certstest.Pair{ours.Client(named("spiffe://test/a"))}, true},
			"foreign":     {[]certstest.Pair{foreign.Client(named("spiffe://test/a"))}, false},
			"expired":     {[]certstest.Pair{ours.Client(expired)}, false},
			"for servers": {[]certstest.Pair{ours.Issue(server)}, false},
		} {
			if _, _, err := s.get(with(t, c.pairs...)); (err == nil) != c.in {
				t.Errorf("%s: got error %v, want in: %v", name, err, c.in)
			}
		}
	})
}

func TestOptionalCertificateMustBeGoodIfShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, foreign := certstest.New(t), certstest.New(t)
		s := newSite(t, certs.Options{Optional: true}, ours)
		if _, _, err := s.get(with(t)); err != nil {
			t.Errorf("without one: %v", err)
		}
		if _, _, err := s.get(with(t, foreign.Client(named("spiffe://test/a")))); err == nil {
			t.Error("a foreign one was let in")
		}
	})
}

// TestAuthorityTakenAwayLetsNobodyInAnyMore: not by a new handshake, and not by a
// session of an old one.
func TestAuthorityTakenAwayLetsNobodyInAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before, after := certstest.New(t), certstest.New(t)
		s := newSite(t, certs.Options{}, before)
		old := with(t, before.Client(named("spiffe://test/a")))
		old.ClientSessionCache = tls.NewLRUClientSessionCache(8)
		for range 2 {
			if _, _, err := s.get(old); err != nil {
				t.Fatal(err)
			}
		}
		s.write("ca.pem", after.PEM())
		s.settle()
		if _, _, err := s.get(old); err == nil {
			t.Error("a client of the authority that was taken away was let in")
		}
		if _, _, err := s.get(with(t, after.Client(named("spiffe://test/a")))); err != nil {
			t.Errorf("a client of the new authority: %v", err)
		}
	})
}

func TestOldVersionsAreNotSpoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			least uint16 // of the server
			most  uint16 // of the client
			in    bool
		}{
			"1.1":               {0, tls.VersionTLS11, false},
			"1.2":               {0, tls.VersionTLS12, true},
			"1.3":               {0, tls.VersionTLS13, true},
			"1.2, 1.3 at least": {tls.VersionTLS13, tls.VersionTLS12, false},
		} {
			s := newSite(t, certs.Options{MinVersion: c.least}, nil)
			_, _, err := s.get(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: c.most})
			if (err == nil) != c.in {
				t.Errorf("%s: got error %v, want in: %v", name, err, c.in)
			}
		}
	})
}

// TestOnlyHTTP1IsOffered: the framing of anything else would not be judged.
func TestOnlyHTTP1IsOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, certs.Options{}, nil)
		if _, got, err := s.get(&tls.Config{NextProtos: []string{"h2", "http/1.1"}}); got != "http/1.1" {
			t.Errorf("got %q, %v, want http/1.1", got, err)
		}
		if _, _, err := s.get(&tls.Config{NextProtos: []string{"h2"}}); err == nil {
			t.Error("h2 alone was accepted")
		}
	})
}

// TestSilentClientHoldsNobodyUp: not those who come after it, and itself not for long.
func TestSilentClientHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, certs.Options{}, nil)
		silent, err := s.listener.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		began := time.Now()
		if got := s.shown(); got != "first" || time.Since(began) > time.Second {
			t.Errorf("the next client: got %s after %v, want first at once", got, time.Since(began))
		}
		if _, err := io.Copy(io.Discard, silent); err != nil {
			t.Errorf("the silent client: got %v, want the end of its connection", err)
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("the silent client was cut off after %v, want 5 s", took)
		}
	})
}

func TestErrorsAtTheStartNameKeyAndFile(t *testing.T) {
	root := certstest.New(t)
	good, other := root.Server("a"), root.Server("b")
	for name, c := range map[string]struct {
		cert, key, ca []byte // nil: no such file
		want          []string
	}{
		"no certificate":  {nil, good.Key, root.PEM(), []string{"tls.cert", "cert.pem"}},
		"no key":          {good.Cert, nil, root.PEM(), []string{"tls.key", "key.pem"}},
		"no authority":    {good.Cert, good.Key, nil, []string{"tls.client_ca", "ca.pem"}},
		"another's key":   {good.Cert, other.Key, root.PEM(), []string{"tls.key", "key.pem"}},
		"half written":    {good.Cert, good.Key, slices.Concat(root.PEM(), root.PEM()[:100]), []string{"tls.client_ca", "of 2 certificates 1"}},
		"bad block":       {good.Cert, good.Key, slices.Concat([]byte("-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"), root.PEM()), []string{"tls.client_ca", "certificate 1"}},
		"no base64":       {good.Cert, good.Key, slices.Concat([]byte("-----BEGIN CERTIFICATE-----\n%\n-----END CERTIFICATE-----\n"), root.PEM()), []string{"tls.client_ca", "of 2 certificates 1"}},
		"empty authority": {good.Cert, good.Key, []byte("\n"), []string{"tls.client_ca", "ca.pem"}},
	} {
		dir := t.TempDir()
		for file, content := range map[string][]byte{"cert.pem": c.cert, "key.pem": c.key, "ca.pem": c.ca} {
			if content != nil {
				certstest.Write(t, filepath.Join(dir, file), content)
			}
		}
		for _, table := range []string{"tls", "admin.tls"} {
			_, err := certs.Open(certs.Options{Table: table, Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), ClientCA: filepath.Join(dir, "ca.pem")})
			if err == nil {
				t.Errorf("%s: no error", name)
				continue
			}
			if table == "admin.tls" && strings.Contains(strings.ReplaceAll(err.Error(), "admin.tls.", ""), "tls.") {
				t.Errorf("%s: got %q, which names keys of another table", name, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: got %q, want %q in it", name, err, want)
				}
			}
		}
	}
}

// TestOverdueRenewalIsTold, measured by the certificate's own life.
func TestOverdueRenewalIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, certs.Options{}, nil)
		if got := s.certs.Overdue(); got != "" {
			t.Errorf("got %q of a new certificate, want nothing", got)
		}
		time.Sleep(time.Until(s.certs.Expiry().Add(-time.Hour)))
		if got := s.certs.Overdue(); !strings.Contains(got, "expires at") {
			t.Errorf("an hour before its end: got %q, want that it expires", got)
		}
		if got := s.certs.Fault(); got != "" {
			t.Errorf("an hour before its end: got fault %q, want none", got)
		}
	})
}

func TestCertificateOfTheFutureIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := certstest.New(t)
		s := newSite(t, certs.Options{}, nil)
		s.show(root.Issue(x509.Certificate{NotBefore: time.Now().Add(time.Hour), NotAfter: time.Now().Add(2 * time.Hour)}))
		s.settle()
		if got := s.certs.Fault(); !strings.Contains(got, "not valid before") {
			t.Errorf("got fault %q, want that it is not valid yet", got)
		}
	})
}

// TestExpiredAuthoritiesAreTold: while one of several is good, clients get in.
func TestExpiredAuthoritiesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clients := certstest.New(t)
		s := newSite(t, certs.Options{}, clients)
		expired := clients.Issue(x509.Certificate{NotAfter: time.Now().Add(-time.Minute)}).Cert
		s.write("ca.pem", slices.Concat(expired, clients.PEM(), expired))
		s.settle()
		if got := s.certs.Fault(); got != "" {
			t.Errorf("two of three have expired: got fault %q, want none", got)
		}
		s.write("ca.pem", expired)
		s.settle()
		if got := s.certs.Fault(); !strings.Contains(got, "tls.client_ca") {
			t.Errorf("all have expired: got fault %q, want that they have", got)
		}
	})
}
