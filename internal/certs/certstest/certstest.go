// Package certstest makes certificates for tests.
package certstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"testing"
	"time"
)

// Authority is a certificate authority of its own.
type Authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// New returns a new authority.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, key: newKey(t)}
	template := x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	complete(t, &template)
	a.pem, a.cert = a.sign(&template, &template, &a.key.PublicKey)
	return a
}

// Pool holds the authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// PEM is the authority's certificate.
func (a *Authority) PEM() []byte { return a.pem }

// Pair is a certificate and its key.
type Pair struct {
	Cert, Key []byte // PEM
}

// TLS is the pair as package tls wants it.
func (p Pair) TLS(t testing.TB) tls.Certificate {
	t.Helper()
	c, err := tls.X509KeyPair(p.Cert, p.Key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Server issues a certificate for servers on loopback that lives for a day. name is
// its common name, and one of its DNS names.
func (a *Authority) Server(name string) Pair {
	return a.Issue(x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name, "localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

// Client issues a certificate for clients with the names of template. It lives for a
// day unless template says otherwise.
func (a *Authority) Client(template x509.Certificate) Pair {
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.Issue(template)
}

// Issue issues a certificate as template says, with a new key.
func (a *Authority) Issue(template x509.Certificate) Pair {
	a.t.Helper()
	complete(a.t, &template)
	key := newKey(a.t)
	cert, _ := a.sign(&template, a.cert, &key.PublicKey)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return Pair{Cert: cert, Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})}
}

func (a *Authority) sign(template, parent *x509.Certificate, key *ecdsa.PublicKey) ([]byte, *x509.Certificate) {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), cert
}

// complete gives a template what every certificate needs.
func complete(t testing.TB, c *x509.Certificate) {
	t.Helper()
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64))
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber = serial
	if c.NotBefore.IsZero() {
		c.NotBefore = time.Now().Add(-time.Hour)
	}
	if c.NotAfter.IsZero() {
		c.NotAfter = time.Now().Add(24 * time.Hour)
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Write puts content into the file at path, whole or not at all.
func Write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
