// Package issuertest is an issuer of access tokens for tests. It makes tokens by the
// standard library alone, bad ones too, and serves its keys on loopback.
package issuertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Name is the iss of the tokens, Audience their aud.
const (
	Name     = "https://issuer.test"
	Audience = "https://berth.test/mcp"
)

// Issuer has keys named rsa, ec and ed, and serves them. Its methods may be called
// from any goroutine.
type Issuer struct {
	// URL is where the keys are.
	URL string
	// Fetches counts the requests for them.
	Fetches atomic.Int64

	t       testing.TB
	mu      sync.Mutex // guards the fields below
	keys    map[string]crypto.Signer
	handler http.Handler // serves in place of the keys; nil: nothing does
}

// New starts an issuer, which ends with the test.
func New(t testing.TB) *Issuer {
	t.Helper()
	i := Make(t)
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.URL = server.URL + "/keys"
	return i
}

// Make makes an issuer that serves nowhere.
func Make(t testing.TB) *Issuer {
	t.Helper()
	i := &Issuer{t: t}
	i.Rotate("")
	return i
}

// Rotate gives the issuer new keys in place of the old, named with a suffix.
func (i *Issuer) Rotate(suffix string) {
	i.t.Helper()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		i.t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = map[string]crypto.Signer{"rsa" + suffix: rsaKey, "ec" + suffix: ecKey, "ed" + suffix: edKey}
}

// Answer makes handler answer requests for the keys; nil: the keys are served again.
func (i *Issuer) Answer(handler http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handler = nil
	if handler != nil {
		i.handler = handler
	}
}

// ServeHTTP serves the keys.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.Fetches.Add(1)
	i.mu.Lock()
	handler := i.handler
	i.mu.Unlock()
	if handler != nil {
		handler.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(i.KeySet()) // the client may be gone
}

// KeySet is the keys' document, with two of kinds that berth has no use for.
func (i *Issuer) KeySet() []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	keys := []map[string]any{
		{"kty": "oct", "kid": "shared", "k": encode([]byte("a secret that is shared"))},
		{"kty": "strange", "kid": "strange"},
	}
	for kid, key := range i.keys {
		keys = append(keys, publicKey(kid, key.Public()))
	}
	document, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		i.t.Fatal(err)
	}
	return document
}

func publicKey(kid string, key crypto.PublicKey) map[string]any {
	switch key := key.(type) {
	case *rsa.PublicKey:
		return map[string]any{"kty": "RSA", "kid": kid, "use": "sig", "n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes())}
	case *ecdsa.PublicKey:
		point, err := key.Bytes()
		if err != nil {
			panic(err) // for keys that GenerateKey does not make
		}
		half := (len(point) - 1) / 2
		return map[string]any{"kty": "EC", "kid": kid, "crv": "P-256", "x": encode(point[1 : 1+half]), "y": encode(point[1+half:])}
	}
	return map[string]any{"kty": "OKP", "kid": kid, "crv": "Ed25519", "x": encode(key.(ed25519.PublicKey))}
}

// PublicPEM is the RSA key as others publish it: what a forger has.
func (i *Issuer) PublicPEM() []byte {
	der, err := x509.MarshalPKIXPublicKey(i.key("rsa").Public())
	if err != nil {
		i.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// Claims are those of a token of a subject's that is good for an hour, with changes;
// a nil value takes a claim out.
func Claims(subject string, changes map[string]any) map[string]any {
	now := time.Now().Unix()
	claims := map[string]any{"iss": Name, "sub": subject, "aud": Audience, "exp": now + 3600, "iat": now, "nbf": now}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

// Token is a good token of a subject's, made at this moment.
func (i *Issuer) Token(subject string) string {
	return i.Sign("ES256", "ec", nil, Claims(subject, nil))
}

// Sign signs claims by an algorithm and the key of that name, whether or not they fit:
// by HS256 with the text of a public key, by none not at all. header is added to the
// token's.
func (i *Issuer) Sign(algorithm, key string, header, claims map[string]any) string {
	payload, err := json.Marshal(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	return i.SignRaw(algorithm, key, header, payload)
}

// SignRaw signs any payload.
func (i *Issuer) SignRaw(algorithm, key string, header map[string]any, payload []byte) string {
	all := map[string]any{"alg": algorithm, "kid": key, "typ": "at+jwt"}
	maps.Copy(all, header)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	head, err := json.Marshal(all)
	if err != nil {
		i.t.Fatal(err)
	}
	input := encode(head) + "." + encode(payload)
	return input + "." + encode(i.signature(algorithm, key, []byte(input)))
}

func (i *Issuer) signature(algorithm, key string, input []byte) []byte {
	digest := sha256.Sum256(input)
	switch algorithm {
	case "HS256":
		mac := hmac.New(sha256.New, i.PublicPEM())
		mac.Write(input)
		return mac.Sum(nil)
	case "RS256":
		return i.check(i.key(key).Sign(rand.Reader, digest[:], crypto.SHA256))
	case "PS256":
		return i.check(i.key(key).Sign(rand.Reader, digest[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256}))
	case "ES256":
		r, s, err := ecdsa.Sign(rand.Reader, i.key(key).(*ecdsa.PrivateKey), digest[:])
		return i.check(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...), err)
	case "EdDSA":
		return i.check(i.key(key).Sign(rand.Reader, input, crypto.Hash(0)))
	}
	return nil
}

func (i *Issuer) key(name string) crypto.Signer {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[name]
}

func (i *Issuer) check(signature []byte, err error) []byte {
	if err != nil {
		i.t.Error(err)
	}
	return signature
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
