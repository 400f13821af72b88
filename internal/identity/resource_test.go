package identity_test

import (
	"net/http"
	"net/url"
	"testing"

	"berth/internal/identity"
	"berth/internal/identity/issuertest"
)

func TestDocumentOfAResourceLiesBesideIt(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.org/mcp":     "/.well-known/oauth-protected-resource/mcp",
		"https://example.org/a/b/":    "/.well-known/oauth-protected-resource/a/b",
		"https://example.org":         "/.well-known/oauth-protected-resource",
		"https://example.org:8443/":   "/.well-known/oauth-protected-resource",
		"http://127.0.0.1:8080/a%20b": "/.well-known/oauth-protected-resource/a b",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := (identity.Resource{URL: u}).MetadataPath(); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestDocumentOfAResourceSaysWhereTokensAreToBeHad(t *testing.T) {
	r := resource(t)
	want := `{"resource":"https://berth.test/mcp","authorization_servers":["https://issuer.test"],"bearer_methods_supported":["header"]}`
	if got := string(r.Metadata()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r.Scopes = []string{"tools", "tasks"}
	want = want[:len(want)-1] + `,"scopes_supported":["tools","tasks"]}`
	if got := string(r.Metadata()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestChallengeNamesTheScopes(t *testing.T) {
	j := verifier(t, inFile(t, issuertest.Make(t)))
	j.Resource.Scopes = []string{"tools", "tasks"}
	want := `Bearer error="invalid_token", error_description="the token is malformed, or its algorithm is not accepted", ` +
		`scope="tools tasks", resource_metadata="https://berth.test/.well-known/oauth-protected-resource/mcp"`
	if e := refusal(second(identify(t, j, "Bearer x"))); e.Status != http.StatusUnauthorized || e.Challenge != want {
		t.Errorf("got %d, %s\nwant 401, %s", e.Status, e.Challenge, want)
	}
}
