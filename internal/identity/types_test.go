package identity_test

import (
	"net/http"
	"strings"
	"testing"

	"berth/internal/identity"
	"berth/internal/identity/issuertest"
)

// What an issuer signs by the same key for something else, an ID token for one, is no access
// token where its type is asked for (RFC 9068, 2.1 and 4; RFC 8725, 3.11).
func TestTokensOfAnotherTypeAreRefused(t *testing.T) {
	issuer := issuertest.Make(t)
	for name, c := range map[string]struct {
		types []string
		typ   any
		taken bool
	}{
		"any type":              {nil, "anything", true},
		"any, and none":         {nil, nil, true},
		"the one":               {[]string{"at+jwt"}, "at+jwt", true},
		"in another case":       {[]string{"at+jwt"}, "AT+JWT", true},
		"spelt out":             {[]string{"at+jwt"}, "application/at+jwt", true},
		"spelt out in the list": {[]string{"Application/AT+jwt"}, "at+jwt", true},
		"one of two":            {[]string{"jwt", "at+jwt"}, "at+jwt", true},
		"an ID token":           {[]string{"at+jwt"}, "JWT", false},
		"none":                  {[]string{"at+jwt"}, nil, false},
		"empty":                 {[]string{"at+jwt"}, "", false},
		"a beginning of it":     {[]string{"at+jwt"}, "at", false},
		"more of it":            {[]string{"at+jwt"}, "at+jwt; v=1", false},
		"another kind":          {[]string{"at+jwt"}, "text/at+jwt", false},
		"no text":               {[]string{"at+jwt"}, []string{"at+jwt"}, false},
	} {
		j := verifier(t, inFile(t, issuer))
		for _, typ := range c.types {
			j.Types = append(j.Types, identity.MediaType(typ))
		}
		token := issuer.Sign("ES256", "ec", map[string]any{"typ": c.typ}, issuertest.Claims("alice", nil))
		who, err := identify(t, j, "Bearer "+token)
		if (who != "") != c.taken {
			t.Errorf("%s: got %q, %v, want it taken: %v", name, who, err, c.taken)
		}
		if e := refusal(err); !c.taken && (e.Status != http.StatusUnauthorized || !strings.Contains(e.Challenge, `error="invalid_token"`)) {
			t.Errorf("%s: got %d %q, want 401 invalid_token", name, e.Status, e.Challenge)
		}
	}
}
