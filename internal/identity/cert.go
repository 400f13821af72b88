package identity

import (
	"crypto/x509"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// Cert identifies callers by the certificate that they showed in the TLS handshake,
// and that was verified there. The principal is its subject alternative name: "uri:"
// with the URI if it bears one (SPIFFE), else "dns:" with the host name in lower case,
// else "email:" with the address. Of that kind there must be exactly one, for which of
// several is meant nobody could tell. A renewed certificate of the same name is the
// same caller; the common name and IP addresses name nobody.
//
// The zero value is ready to use.
type Cert struct{}

// What Cert refuses.
var (
	errNoTLS       = forbidden("callers are told apart by certificates, and this connection has none")
	errNoName      = forbidden("the client certificate bears no URI, DNS or email name")
	errSeveral     = forbidden("the client certificate bears several names of one kind")
	errLongName    = forbidden("the name in the client certificate is too long")
	errNameText    = forbidden("the name in the client certificate is not UTF-8")
	errCertExpired = forbidden("the client certificate has expired")
)

// Identify returns the name in the client's certificate. Who showed none is nobody. One without a
// usable name, or that expired since the handshake, is refused with 403, and so is who does not speak TLS.
func (Cert) Identify(r *wire.Request, _ bool) (string, error) {
	if r.TLS == nil {
		return "", errNoTLS
	}
	if len(r.TLS.VerifiedChains) == 0 {
		return "", nil
	}
	leaf := r.TLS.VerifiedChains[0][0]
	if time.Now().After(leaf.NotAfter) {
		return "", errCertExpired
	}
	return nameOf(leaf)
}

// Header returns "": no header names the principal.
func (Cert) Header() string { return "" }

func nameOf(leaf *x509.Certificate) (string, error) {
	var uris []string
	for _, uri := range leaf.URIs {
		uris = append(uris, uri.String())
	}
	for _, names := range []struct {
		kind   string
		values []string
	}{{"uri:", uris}, {"dns:", leaf.DNSNames}, {"email:", leaf.EmailAddresses}} {
		switch {
		case len(names.values) == 0:
			continue
		case len(names.values) > 1:
			return "", errSeveral
		case len(names.values[0]) > maxPrincipal:
			return "", errLongName
		case !isText(names.values[0]):
			return "", errNameText
		case names.kind == "dns:":
			return names.kind + strings.ToLower(names.values[0]), nil
		}
		return names.kind + names.values[0], nil
	}
	return "", errNoName
}

func forbidden(message string) *mcp.Error {
	return &mcp.Error{Status: wire.StatusForbidden, Code: mcp.CodeInvalidRequest, Message: message}
}
