package identity_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/certs/certstest"
	"berth/internal/identity"
	"berth/internal/identity/issuertest"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// resource is the endpoint that tokens are for.
func resource(t testing.TB) identity.Resource {
	t.Helper()
	u, err := url.Parse(issuertest.Audience)
	if err != nil {
		t.Fatal(err)
	}
	return identity.Resource{URL: u, AuthorizationServers: []string{issuertest.Name}}
}

// verifier accepts the issuer's tokens by the default algorithms.
func verifier(t testing.TB, keys identity.Keys) *identity.JWT {
	t.Helper()
	return &identity.JWT{
		Issuer: issuertest.Name, Algorithms: []string{"RS256", "PS256", "ES256", "EdDSA"},
		Leeway: 30 * time.Second, Resource: resource(t), Keys: keys,
	}
}

// inFile puts the issuer's keys into a file.
func inFile(t testing.TB, issuer *issuertest.Issuer) *identity.KeyFile {
	t.Helper()
	_, keys := keyFile(t, issuer)
	return keys
}

// keyFile puts the issuer's keys into the file at path.
func keyFile(t testing.TB, issuer *issuertest.Issuer) (path string, keys *identity.KeyFile) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "keys.json")
	certstest.Write(t, path, issuer.KeySet())
	keys, err := identity.OpenKeyFile("auth.jwt.jwks", path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return path, keys
}

func mustJSON(t testing.TB, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// identify asks who sends these Authorization headers.
func identify(t testing.TB, i interface {
	Identify(*wire.Request, bool) (string, error)
}, authorization ...string) (string, error) {
	t.Helper()
	r := &wire.Request{Header: new(wire.Header)}
	for _, value := range authorization {
		r.Header.Add("Authorization", value)
	}
	return i.Identify(r.WithContext(t.Context()), false)
}

// refusal is the answer that an error words, the zero value if it words none.
func refusal(err error) mcp.Error {
	var worded *mcp.Error
	if errors.As(err, &worded) {
		return *worded
	}
	return mcp.Error{}
}
