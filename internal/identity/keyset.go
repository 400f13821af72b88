package identity

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// What [Keys] cannot find, and why.
var (
	// ErrUnknownKey says that the issuer has no such key.
	ErrUnknownKey = errors.New("identity: the issuer has no such key")
	// ErrUnfitKey: no key that the token may mean is for its algorithm, or more are than are tried.
	ErrUnfitKey = errors.New("identity: no key of the issuer's fits")
	// ErrKeysAway: the keys could not be fetched, and nobody can tell whether there is such a key.
	ErrKeysAway = errors.New("identity: the issuer's keys are not to be had")
)

const (
	maxKeys    = 256  // of an issuer
	maxTried   = 8    // keys with one token that does not tell which of them it means
	minRSABits = 2048 // RFC 7518, 3.3
)

// keySet is one reading of an issuer's keys (RFC 7517, 5). It does not change.
type keySet struct {
	keys []jose.JSONWebKey
}

// parseKeys leaves out keys that verify no signature, and those of an unknown kind, as RFC 7517
// wants.
func parseKeys(document []byte) (*keySet, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(document, &set); err != nil {
		return nil, errors.New("no JSON Web Key Set")
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("%d keys, of which berth takes %d", len(set.Keys), maxKeys)
	}
	var s keySet
	for _, raw := range set.Keys {
		if key, ok := parseKey(raw); ok {
			s.keys = append(s.keys, key)
		}
	}
	if len(s.keys) == 0 {
		return nil, errors.New("no usable key in the set")
	}
	return &s, nil
}

func parseKey(raw []byte) (jose.JSONWebKey, bool) {
	var key jose.JSONWebKey
	var use struct {
		Operations []string `json:"key_ops"`
	}
	if json.Unmarshal(raw, &key) != nil || json.Unmarshal(raw, &use) != nil {
		return key, false
	}
	if key.Use != "" && key.Use != "sig" || use.Operations != nil && !slices.Contains(use.Operations, "verify") {
		return key, false
	}
	return key, key.Valid() && key.IsPublic()
}

// find returns the keys that a token may mean: one, unless it names none, or the issuer has several of one name (RFC 7517, 4.5).
func (s *keySet) find(kid string, algorithm jose.SignatureAlgorithm) (fitting []*jose.JSONWebKey, err error) {
	named := false
	for i := range s.keys {
		key := &s.keys[i]
		if kid != "" && key.KeyID != kid {
			continue
		}
		named = true
		if fits(key, algorithm) && !slices.ContainsFunc(fitting, func(other *jose.JSONWebKey) bool { return isSame(other, key) }) {
			fitting = append(fitting, key)
		}
	}
	switch {
	case !named:
		return nil, ErrUnknownKey
	case len(fitting) == 0, len(fitting) > maxTried:
		return nil, ErrUnfitKey
	}
	return fitting, nil
}

// isSame reports whether two entries of a set are one key: sets that were put together list some twice.
func isSame(a, b *jose.JSONWebKey) bool {
	key, ok := a.Key.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(b.Key)
}

// fits reports whether a key is made for an algorithm (RFC 7518, 3.1).
func fits(key *jose.JSONWebKey, algorithm jose.SignatureAlgorithm) bool {
	if key.Algorithm != "" && key.Algorithm != string(algorithm) {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return slices.Contains([]jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}, algorithm) &&
			public.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey:
		return public.Curve == map[jose.SignatureAlgorithm]elliptic.Curve{
			jose.ES256: elliptic.P256(), jose.ES384: elliptic.P384(), jose.ES512: elliptic.P521(),
		}[algorithm]
	case ed25519.PublicKey:
		return algorithm == jose.EdDSA
	}
	return false
}

var errNoneFits = errors.New("none of the keys is for an accepted algorithm")

// Usable fetches once, beside Run, and returns how many keys are for one of algorithms; none is an
// error.
func (f *KeyFetcher) Usable(ctx context.Context, algorithms []string) (int, error) {
	keys, err := f.fetch(ctx)
	if err != nil {
		return 0, err
	}
	return keys.usable(algorithms)
}

// Usable returns how many of the keys in use are for one of algorithms. None is an error.
func (f *KeyFile) Usable(_ context.Context, algorithms []string) (int, error) {
	return f.current.Get().usable(algorithms)
}

func (s *keySet) usable(algorithms []string) (count int, err error) {
	for i := range s.keys {
		if slices.ContainsFunc(algorithms, func(name string) bool { return fits(&s.keys[i], jose.SignatureAlgorithm(name)) }) {
			count++
		}
	}
	if count == 0 {
		return 0, errNoneFits
	}
	return count, nil
}
