package certs

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"
)

// renewalShare is the part of a certificate's life, the last fifth, by which it should
// have been renewed: 18 days of 90. Who renews by machine does so in the last third.
const renewalShare = 5

// Overdue says that the certificate in use expires soon, for one of its lifetime; "" if
// it does not. Fault tells of one that has expired.
func (c *Certs) Overdue() string {
	s := c.current.Get()
	if time.Now().Before(s.expiry.Add(-s.expiry.Sub(s.begin) / renewalShare)) {
		return ""
	}
	return fmt.Sprintf("the certificate expires at %s and was not renewed yet", s.expiry.UTC().Format(time.RFC3339))
}

func lastExpiry(certificates []byte) (last time.Time) {
	for block, rest := pem.Decode(certificates); block != nil; block, rest = pem.Decode(rest) {
		if one, err := x509.ParseCertificate(block.Bytes); err == nil && one.NotAfter.After(last) {
			last = one.NotAfter
		}
	}
	return last
}
