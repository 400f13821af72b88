package identity

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"
)

const maxToken = 8 << 10

// Keys are the keys of an issuer.
type Keys interface {
	// Find returns the public keys of which one may have signed a token of this header; kid is "" if it
	// names none. The errors are ErrUnknownKey, ErrUnfitKey or ErrKeysAway.
	Find(ctx context.Context, kid string, algorithm jose.SignatureAlgorithm) ([]*jose.JSONWebKey, error)
	// Renewed reports whether the keys were fetched anew because of the call, for which it waits: of those that Find has
	// returned none verifies a token.
	Renewed(ctx context.Context) bool
}

// JWT identifies callers by a signed JWT in the Authorization header (RFC 6750, 2.1; RFC 9068). The
// principal is "iss|sub".
type JWT struct {
	Issuer     string   // the iss of every token
	Audience   []string // the values of which a token's aud must have one; none: the resource's URL
	Algorithms []string // those that a token may be signed by. They must be asymmetric.
	// Types are what a token's typ may be, as MediaType returns it; none: anything.
	Types    []string
	Leeway   time.Duration // how far the issuer's clock may be off
	Resource Resource      // the endpoint that tokens are for
	Keys     Keys          // the issuer's. Required.
}

// Header returns "": the token names the principal, and is verified.
func (j *JWT) Header() string { return "" }

// Identify verifies the request's token. Without a good one the request is refused with 401 and
// told where to get one; without the issuer's keys with 503, for that says nothing about the token.
func (j *JWT) Identify(r *wire.Request, _ bool) (string, error) {
	token, err := j.bearer(r.Header)
	if err != nil {
		return "", err
	}
	claims, err := j.verify(r.Context(), token)
	if err != nil {
		return "", err
	}
	return claims.Issuer + "|" + claims.Subject, nil
}

func (j *JWT) bearer(h *wire.Header) (string, error) {
	value, n := h.First("Authorization")
	if n > 1 {
		return "", j.Resource.refuse(wire.StatusBadRequest, "invalid_request", "several Authorization headers")
	}
	scheme, token, _ := strings.Cut(value, " ")
	token = strings.Trim(token, " ")
	switch {
	case !strings.EqualFold(scheme, "Bearer"):
		return "", j.Resource.refuse(wire.StatusUnauthorized, "", "a bearer token is required")
	case len(token) > maxToken:
		return "", j.Resource.invalid("the token is too long")
	}
	return token, nil
}

// verify judges the cheap things first, none of which is believed before the signature.
func (j *JWT) verify(ctx context.Context, token string) (jwt.Claims, error) {
	var claims jwt.Claims
	signed, err := jose.ParseSignedCompact(token, j.algorithms())
	if err != nil {
		return claims, j.Resource.invalid("the token is malformed, or its algorithm is not accepted")
	}
	header := signed.Signatures[0].Header
	if _, critical := header.ExtraHeaders["crit"]; critical {
		return claims, j.Resource.invalid("the token has critical headers, none of which is understood")
	}
	if !j.takesType(header) {
		return claims, j.Resource.invalid("the token is of another type")
	}
	if err := j.check(signed.UnsafePayloadWithoutVerification(), &claims); err != nil {
		return claims, err
	}
	err = j.verifyBy(ctx, signed)
	if (errors.Is(err, errSignature) || errors.Is(err, ErrUnfitKey)) && j.Keys.Renewed(ctx) { // another key may have taken a name over
		err = j.verifyBy(ctx, signed)
	}
	if err != nil {
		return claims, j.noKey(err)
	}
	return claims, nil
}

var errSignature = errors.New("identity: the signature is of none of the keys")

// verifyBy verifies a token by the keys that there are.
func (j *JWT) verifyBy(ctx context.Context, signed *jose.JSONWebSignature) error {
	header := signed.Signatures[0].Header
	keys, err := j.Keys.Find(ctx, header.KeyID, jose.SignatureAlgorithm(header.Algorithm))
	if err == nil && !slices.ContainsFunc(keys, func(key *jose.JSONWebKey) bool { _, err := signed.Verify(key); return err == nil }) {
		err = errSignature
	}
	return err
}

// takesType: what the same key signed for something else, an ID token for one, is no access token
// (RFC 8725, 3.11).
func (j *JWT) takesType(header jose.Header) bool {
	if len(j.Types) == 0 {
		return true
	}
	typ, _ := header.ExtraHeaders[jose.HeaderType].(string)
	return slices.Contains(j.Types, MediaType(typ))
}

// MediaType returns a typ without regard to case, and as a subtype of application (RFC 7515, 4.1.9;
// RFC 9068, 2.1).
func MediaType(typ string) string {
	typ = strings.ToLower(typ)
	if !strings.Contains(typ, "/") {
		return "application/" + typ
	}
	return typ
}

func (j *JWT) algorithms() []jose.SignatureAlgorithm {
	algorithms := make([]jose.SignatureAlgorithm, len(j.Algorithms))
	for i, name := range j.Algorithms {
		algorithms[i] = jose.SignatureAlgorithm(name)
	}
	return algorithms
}

func (j *JWT) check(payload []byte, claims *jwt.Claims) error {
	// The library's JSON knows no case folding and no duplicates.
	if json.Unmarshal(payload, claims) != nil {
		return j.Resource.invalid("the token's claims are malformed")
	}
	audience := j.Audience
	if len(audience) == 0 {
		audience = []string{j.Resource.URL.String()}
	}
	switch err := claims.ValidateWithLeeway(jwt.Expected{Issuer: j.Issuer, AnyAudience: audience}, j.Leeway); {
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return j.Resource.invalid("the token is of another issuer")
	case errors.Is(err, jwt.ErrInvalidAudience):
		return j.Resource.invalid("the token is for another audience")
	case errors.Is(err, jwt.ErrExpired):
		return j.Resource.invalid("the token has expired")
	case err != nil:
		return j.Resource.invalid("the token is not valid yet")
	case claims.Expiry == nil:
		return j.Resource.invalid("the token never expires")
	case !isSubject(claims.Subject):
		return j.Resource.invalid("the token names no usable subject")
	}
	return nil
}

// isSubject judges a subject.
func isSubject(s string) bool { return s != "" && len(s) <= maxPrincipal && isText(s) }

func (j *JWT) noKey(err error) *mcp.Error {
	switch {
	case errors.Is(err, errSignature):
		return j.Resource.invalid("the token's signature does not verify")
	case errors.Is(err, ErrUnknownKey):
		return j.Resource.invalid("the token is signed by a key that its issuer does not have")
	case errors.Is(err, ErrUnfitKey):
		return j.Resource.invalid("the issuer has no key for the algorithm that the token may mean, or too many")
	}
	return &mcp.Error{
		Status: wire.StatusServiceUnavailable, Code: mcp.CodeUnavailable, Message: "the issuer's keys cannot be had",
		Reason: mcp.ReasonKeysUnavailable, RetryAfter: retryKeys,
	}
}

const retryKeys = time.Second

// Named returns whom a token names, unverified; whole says that both names can be compared.
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

// decodePart reads a part of a token, by a JSON that knows no case folding and no duplicates.
func decodePart(part string, into any) bool {
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(part, "="))
	return err == nil && json.Unmarshal(text, into) == nil
}
