package identity

import (
	"encoding/base64"
	"strings"

	"github.com/go-jose/go-jose/v4/json"
)

// Named returns whom a token names, unverified: isJWT says that it is a signed JWT; whole
// that its claims have an issuer and a subject that can be compared.
func Named(token string) (issuer, subject string, isJWT, whole bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || len(token) > maxNamed {
		return "", "", false, false
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	if !decodePart(parts[0], &header) || header.Algorithm == "" {
		return "", "", false, false
	}
	var claims struct {
		Issuer  string `json:"iss"`
		Subject string `json:"sub"`
	}
	if !decodePart(parts[1], &claims) || claims.Issuer == "" || !isSubject(claims.Subject) {
		return "", "", true, false
	}
	return claims.Issuer, claims.Subject, true, true
}

// maxNamed bounds a token that is looked into, in bytes. No header is larger by default.
const maxNamed = 32 << 10

// decodePart reads a part of a token. The library's JSON knows no case folding and no
// duplicates, which two readers could take for two names.
func decodePart(part string, into any) bool {
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(part, "="))
	return err == nil && json.Unmarshal(text, into) == nil
}
