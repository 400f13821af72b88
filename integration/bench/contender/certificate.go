package contender

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Certificate is the one that all proxies show clients.
type Certificate struct {
	File    string      // PEM: the certificate, and its key (P-256)
	Clients *tls.Config // of clients that trust it, and speak TLS 1.3 alone
}

// NewCertificate makes one for loopback that signs itself, and writes it into dir.
func NewCertificate(dir string) (c Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return c, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return c, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	c.File = filepath.Join(dir, "proxy.pem")
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return c, fmt.Errorf("contender: the certificate cannot be read")
	}
	c.Clients = &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS13}
	text = bytes.Join([][]byte{text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})}, nil)
	return c, os.WriteFile(c.File, text, 0o600)
}
