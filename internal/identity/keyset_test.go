package identity

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// setOf is the key set of these keys, with members added to each one's JSON.
func setOf(t *testing.T, keys ...map[string]any) *keySet {
	t.Helper()
	document, err := json.Marshal(map[string]any{"keys": keys})
	if err != nil {
		t.Fatal(err)
	}
	set, err := parseKeys(document)
	if err != nil {
		set = new(keySet)
	}
	return set
}

// rsaKey is a public key's JSON, with changes.
func rsaKey(t *testing.T, bits int, changes map[string]any) map[string]any {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jose.JSONWebKey{Key: &key.PublicKey}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	maps.Copy(members, changes)
	return members
}

// TestKeyIsUsedForWhatItIsMadeForOnly.
func TestKeyIsUsedForWhatItIsMadeForOnly(t *testing.T) {
	a := rsaKey(t, 2048, map[string]any{"kid": "a"})
	b := rsaKey(t, 2048, map[string]any{"kid": "b"})
	var many []map[string]any
	for range maxTried {
		many = append(many, rsaKey(t, 2048, nil))
	}
	with := func(name string, value any) map[string]any {
		changed := map[string]any{name: value}
		maps.Copy(changed, a)
		return changed
	}
	for name, c := range map[string]struct {
		set  *keySet
		kid  string
		want error
	}{
		"named":                    {setOf(t, a, b), "b", nil},
		"not named, and alone":     {setOf(t, a), "", nil},
		"not named, and not alone": {setOf(t, a, b), "", nil},
		"not named, among many":    {setOf(t, slices.Concat(many, []map[string]any{b})...), "", ErrUnfitKey},
		"two of one name":          {setOf(t, a, rsaKey(t, 2048, map[string]any{"kid": "a"})), "a", nil},
		"listed twice":             {setOf(t, a, a), "a", nil},
		"unknown":                  {setOf(t, a, b), "c", ErrUnknownKey},
		"in another case":          {setOf(t, a, b), "A", ErrUnknownKey},
		"for signatures":           {setOf(t, with("use", "sig")), "a", nil},
		"for encryption":           {setOf(t, with("use", "enc")), "a", ErrUnknownKey},
		"to verify":                {setOf(t, with("key_ops", []string{"verify"})), "a", nil},
		"to encrypt":               {setOf(t, with("key_ops", []string{"encrypt"})), "a", ErrUnknownKey},
		"for its algorithm":        {setOf(t, with("alg", "RS256")), "a", nil},
		"for another algorithm":    {setOf(t, with("alg", "RS512")), "a", ErrUnfitKey},
		"too short":                {setOf(t, rsaKey(t, 1024, map[string]any{"kid": "a"})), "a", ErrUnfitKey},
	} {
		if _, err := c.set.find(c.kid, jose.RS256); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// TestPrivateAndSharedKeysAreNoIssuersKeys: who reads the set could make tokens.
func TestPrivateAndSharedKeysAreNoIssuersKeys(t *testing.T) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jose.JSONWebKey{Key: private, KeyID: "a"}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]string{"private": string(text), "shared": `{"kty":"oct","kid":"a","k":"AAAAAAAAAAAAAAAAAAAAAA"}`} {
		if _, err := parseKeys([]byte(`{"keys":[` + key + `]}`)); err == nil {
			t.Errorf("%s: taken for a public key", name)
		}
	}
}

func TestKeySetIsBounded(t *testing.T) {
	one, err := json.Marshal(rsaKey(t, 2048, nil))
	if err != nil {
		t.Fatal(err)
	}
	of := func(n int) []byte {
		return []byte(`{"keys":[` + strings.Repeat(string(one)+",", n-1) + string(one) + `]}`)
	}
	if set, err := parseKeys(of(maxKeys)); err != nil || len(set.keys) != maxKeys {
		t.Errorf("got %v, %v, want %d keys", set, err, maxKeys)
	}
	if _, err := parseKeys(of(maxKeys + 1)); err == nil || !strings.Contains(err.Error(), "257 keys") {
		t.Errorf("one more: got %v, want an error that says how many there are", err)
	}
}
