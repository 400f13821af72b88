package identity_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/certs/certstest"
	"berth/internal/identity"
	"berth/internal/wire"
)

// shown is a request of a client that showed a certificate, and was verified.
func shown(t *testing.T, template x509.Certificate) *wire.Request {
	t.Helper()
	leaf, err := x509.ParseCertificate(certstest.New(t).Client(template).TLS(t).Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return &wire.Request{TLS: &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}, VerifiedChains: [][]*x509.Certificate{{leaf}}}}
}

func uris(t *testing.T, texts ...string) (all []*url.URL) {
	t.Helper()
	for _, text := range texts {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, u)
	}
	return all
}

func TestCertificateNamesItsCaller(t *testing.T) {
	spiffe := uris(t, "spiffe://example.org/ns/a/sa/b")
	for name, c := range map[string]struct {
		template x509.Certificate
		want     string // "": refused
	}{
		"a URI":                    {x509.Certificate{URIs: spiffe}, "uri:spiffe://example.org/ns/a/sa/b"},
		"a host name":              {x509.Certificate{DNSNames: []string{"Agent.Example.org"}}, "dns:agent.example.org"},
		"an address":               {x509.Certificate{EmailAddresses: []string{"a@example.org"}}, "email:a@example.org"},
		"a URI before all others":  {x509.Certificate{URIs: spiffe, DNSNames: []string{"a", "b"}, EmailAddresses: []string{"a@b"}}, "uri:spiffe://example.org/ns/a/sa/b"},
		"a host before an address": {x509.Certificate{DNSNames: []string{"a"}, EmailAddresses: []string{"a@b", "c@d"}}, "dns:a"},
		"two URIs":                 {x509.Certificate{URIs: uris(t, "spiffe://a/b", "spiffe://a/c"), DNSNames: []string{"a"}}, ""},
		"two host names":           {x509.Certificate{DNSNames: []string{"a", "b"}}, ""},
		"an IP address":            {x509.Certificate{IPAddresses: []net.IP{net.IPv4(10, 0, 0, 1)}}, ""},
		"a common name":            {x509.Certificate{Subject: pkix.Name{CommonName: "a"}}, ""},
		"a very long name":         {x509.Certificate{DNSNames: []string{strings.Repeat("a.", 600) + "a"}}, ""},
	} {
		who, err := identity.Cert{}.Identify(shown(t, c.template), true)
		if who != c.want || (c.want == "") != (refusal(err).Status == http.StatusForbidden) {
			t.Errorf("%s: got %q, %v, want %q", name, who, err, c.want)
		}
	}
}

func TestRenewedCertificateIsTheSameCaller(t *testing.T) {
	template := x509.Certificate{URIs: uris(t, "spiffe://example.org/a")}
	first, _ := identity.Cert{}.Identify(shown(t, template), false)
	second, _ := identity.Cert{}.Identify(shown(t, template), false)
	if first == "" || first != second {
		t.Errorf("got %q and %q, want the same caller", first, second)
	}
}

// TestCertificateThatWasNotVerifiedNamesNobody, though it was shown.
func TestCertificateThatWasNotVerifiedNamesNobody(t *testing.T) {
	r := shown(t, x509.Certificate{DNSNames: []string{"a"}})
	r.TLS.VerifiedChains = nil
	if who, err := (identity.Cert{}).Identify(r, true); who != "" || err != nil {
		t.Errorf("got %q, %v, want nobody", who, err)
	}
	if who, err := (identity.Cert{}).Identify(&wire.Request{}, true); who != "" || err == nil {
		t.Errorf("without TLS: got %q, %v, want a refusal", who, err)
	}
}

// TestCertificateExpiresDuringAConnection: connections outlive handshakes.
func TestCertificateExpiresDuringAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := shown(t, x509.Certificate{DNSNames: []string{"a"}, NotAfter: time.Now().Add(time.Hour)})
		if _, err := (identity.Cert{}).Identify(r, false); err != nil {
			t.Errorf("at first: %v", err)
		}
		time.Sleep(time.Hour + 2*time.Second)
		if who, err := (identity.Cert{}).Identify(r, false); refusal(err).Status != http.StatusForbidden {
			t.Errorf("after its end: got %q, %v, want 403", who, err)
		}
	})
}
