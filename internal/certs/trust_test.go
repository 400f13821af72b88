package certs_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/certs"
	"berth/internal/certs/certstest"
	"berth/internal/reload"
)

// greeted shakes hands with a server that shows a certificate and lets clients of an authority in,
// nil for anybody, and returns what the client made of it.
func greeted(t *testing.T, config *tls.Config, shows certstest.Pair, clients *certstest.Authority) error {
	t.Helper()
	server := &tls.Config{Certificates: []tls.Certificate{shows.TLS(t)}}
	if clients != nil {
		server.ClientAuth, server.ClientCAs = tls.RequireAndVerifyClientCert, clients.Pool()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") // in a pipe both ends may say goodbye for ever
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		far, err := listener.Accept()
		if err != nil {
			return
		}
		defer far.Close()
		if conn := tls.Server(far, server); conn.Handshake() == nil {
			_, _ = conn.Write([]byte{1})
		}
	}()
	near, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	conn := tls.Client(near, config)
	if err := conn.Handshake(); err != nil {
		return err
	}
	_, err = conn.Read(make([]byte, 1)) // in TLS 1.3 a client hears only now that it is not welcome
	return err
}

func openTrust(t *testing.T, o certs.TrustOptions) *certs.Trust {
	t.Helper()
	o.Table, o.What = "tls", "upstream_tls"
	trust, err := certs.OpenTrust(o)
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

func TestServersAreTrustedByTheirAuthorityAndName(t *testing.T) {
	ours, foreign := certstest.New(t), certstest.New(t)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	certstest.Write(t, ca, ours.PEM())
	for _, c := range []struct {
		what   string
		o      certs.TrustOptions
		shows  certstest.Pair
		host   string
		refuse string // words of the refusal; "": none
	}{
		{"ours", certs.TrustOptions{CA: ca}, ours.Server("a"), "a", ""},
		{"another authority's", certs.TrustOptions{CA: ca}, foreign.Server("a"), "a", "unknown authority"},
		{"the system's authorities", certs.TrustOptions{}, ours.Server("a"), "a", "unknown authority"},
		{"another host's", certs.TrustOptions{CA: ca}, ours.Server("b"), "a", "valid for b"},
		{"a name that is configured", certs.TrustOptions{CA: ca, ServerName: "b"}, ours.Server("b"), "a", ""},
		{"not the name that is configured", certs.TrustOptions{CA: ca, ServerName: "b"}, ours.Server("a"), "a", "valid for a"},
	} {
		err := greeted(t, openTrust(t, c.o).Config(c.host), c.shows, nil)
		if (err == nil) != (c.refuse == "") || err != nil && !strings.Contains(err.Error(), c.refuse) {
			t.Errorf("%s: got %v, want %q", c.what, err, c.refuse)
		}
	}
}

func TestVersionsBelowTheLowestAreNotSpoken(t *testing.T) {
	trust := openTrust(t, certs.TrustOptions{MinVersion: tls.VersionTLS13})
	if got := trust.Config("a").MinVersion; got != tls.VersionTLS13 {
		t.Errorf("got %x, want TLS 1.3", got)
	}
	if got := openTrust(t, certs.TrustOptions{}).Config("a").MinVersion; got != tls.VersionTLS12 {
		t.Errorf("got %x, want TLS 1.2", got)
	}
}

// TestWhatServersAreShownFollowsItsFiles: a new authority and a renewed certificate count for the
// next connection, and files that do not fit change nothing.
func TestWhatServersAreShownFollowsItsFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		ca, cert, key := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
		first, second, clients := certstest.New(t), certstest.New(t), certstest.New(t)
		stranger := certstest.New(t).Client(x509.Certificate{})
		certstest.Write(t, ca, first.PEM())
		certstest.Write(t, cert, stranger.Cert)
		certstest.Write(t, key, stranger.Key)
		trust := openTrust(t, certs.TrustOptions{CA: ca, Cert: cert, Key: key})
		go func() { _ = trust.Run(t.Context()) }()
		settle := func() { time.Sleep(reload.Every + time.Millisecond); synctest.Wait() }
		if err := greeted(t, trust.Config("a"), first.Server("a"), clients); err == nil {
			t.Error("a stranger's certificate is let in")
		}
		known := clients.Client(x509.Certificate{})
		certstest.Write(t, cert, known.Cert)
		settle()
		if fault := trust.Fault(); !strings.Contains(fault, "tls.key "+key) {
			t.Errorf("half a pair: got fault %q, want one that names key and file", fault)
		}
		certstest.Write(t, key, known.Key)
		certstest.Write(t, ca, second.PEM())
		settle()
		if fault := trust.Fault(); fault != "" {
			t.Errorf("mended: got fault %q", fault)
		}
		if err := greeted(t, trust.Config("a"), second.Server("a"), clients); err != nil {
			t.Errorf("after the files changed: %v", err)
		}
		if err := greeted(t, trust.Config("a"), first.Server("a"), nil); err == nil {
			t.Error("the authority that was taken away is believed")
		}
		if got := trust.Overdue(); got != "" {
			t.Errorf("got %q of a new certificate", got)
		}
		time.Sleep(23 * time.Hour)
		if got := trust.Overdue(); !strings.Contains(got, "expires") {
			t.Errorf("an hour before its end: got %q", got)
		}
		time.Sleep(2 * time.Hour)
		if got := trust.Fault(); !strings.Contains(got, "tls.cert expired") {
			t.Errorf("after its end: got %q", got)
		}
	})
}

func TestServersAreShownNoExpiredCertificateInPlaceOfAGoodOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, clients := t.TempDir(), certstest.New(t)
		cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
		show := func(p certstest.Pair) {
			certstest.Write(t, cert, p.Cert)
			certstest.Write(t, key, p.Key)
		}
		good := clients.Client(x509.Certificate{})
		show(good)
		trust := openTrust(t, certs.TrustOptions{Cert: cert, Key: key})
		go func() { _ = trust.Run(t.Context()) }()
		show(clients.Client(x509.Certificate{NotAfter: time.Now().Add(-time.Minute)}))
		time.Sleep(reload.Every + time.Millisecond)
		synctest.Wait()
		if shown := trust.Config("a").Certificates[0].Leaf; time.Now().After(shown.NotAfter) {
			t.Errorf("shown is one that expired at %v", shown.NotAfter)
		}
		if fault := trust.Fault(); !strings.Contains(fault, "cannot be used") || !strings.Contains(fault, "expired") {
			t.Errorf("got fault %q", fault)
		}
		show(good)
		time.Sleep(reload.Every + time.Millisecond)
		synctest.Wait()
		if fault := trust.Fault(); fault != "" {
			t.Errorf("mended: got fault %q", fault)
		}
	})
}

func TestUnusableFilesOfATrustDoNotOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.pem")
	certstest.Write(t, path, []byte("nothing"))
	for _, c := range []struct {
		o    certs.TrustOptions
		want string
	}{
		{certs.TrustOptions{Table: "tls", CA: path}, path},
		{certs.TrustOptions{Table: "tls", CA: path + "x"}, "tls.ca"},
		{certs.TrustOptions{Table: "tls", Cert: path, Key: path}, "tls.cert: "},
	} {
		if _, err := certs.OpenTrust(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %s", err, c.want)
		}
	}
}
