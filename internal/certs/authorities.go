package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

var beginCertificate = []byte("-----BEGIN CERTIFICATE-----")

// parseAuthorities reads the certificates in a PEM file. All must be good: of a file that is half
// written the clients of some authorities would be turned away.
func parseAuthorities(content []byte) (*x509.CertPool, error) {
	if err := checkWhole(content); err != nil {
		return nil, err
	}
	pool, n := x509.NewCertPool(), 0
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		authority, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d: %w", n+1, err)
		}
		pool.AddCert(authority)
		n++
	}
	if n == 0 {
		return nil, errors.New("no certificate in PEM form")
	}
	return pool, nil
}

// checkWhole fails where a PEM file begins a certificate that cannot be read, as one that is half written does: package pem passes over it.
func checkWhole(content []byte) error {
	begun, n := bytes.Count(content, beginCertificate), 0
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			n++
		}
	}
	if n < begun {
		return fmt.Errorf("of %d certificates %d cannot be read", begun, begun-n)
	}
	return nil
}

// readPair reads a certificate with its chain, which must be whole, and its key.
func readPair(chain, key []byte) (tls.Certificate, error) {
	if err := checkWhole(chain); err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(chain, key)
}

// renewalShare is the last part of a certificate's life, by which it should have been renewed: 18
// days of 90.
const renewalShare = 5

// Overdue says that the certificate expires soon, for one of its lifetime. Fault tells of one that
// has expired.
func (c *Certs) Overdue() string {
	s := c.current()
	return overdue(s.begin, s.expiry)
}

func overdue(begin, expiry time.Time) string {
	if time.Now().Before(expiry.Add(-expiry.Sub(begin) / renewalShare)) {
		return ""
	}
	return fmt.Sprintf("the certificate expires at %s and was not renewed yet", expiry.UTC().Format(time.RFC3339))
}

// refuseExpired refuses a certificate that has expired in place of one in use that has not; table names it.
func refuseExpired(table string, expiry, inUse time.Time) error {
	if now := time.Now(); now.Before(expiry) || !now.Before(inUse) {
		return nil
	}
	return fmt.Errorf("%s.cert: the certificate expired at %s", table, expiry.UTC().Format(time.RFC3339))
}

func lastExpiry(certificates []byte) (last time.Time) {
	for block, rest := pem.Decode(certificates); block != nil; block, rest = pem.Decode(rest) {
		if one, err := x509.ParseCertificate(block.Bytes); err == nil && one.NotAfter.After(last) {
			last = one.NotAfter
		}
	}
	return last
}
