package identity_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/certs/certstest"
	"berth/internal/identity"
	"berth/internal/identity/issuertest"
	"berth/internal/wire"
)

func TestGoodTokenNamesIssuerAndSubject(t *testing.T) {
	issuer := issuertest.Make(t)
	j := verifier(t, inFile(t, issuer))
	for algorithm, key := range map[string]string{"RS256": "rsa", "PS256": "rsa", "ES256": "ec", "EdDSA": "ed"} {
		token := issuer.Sign(algorithm, key, nil, issuertest.Claims("alice", nil))
		if who, err := identify(t, j, "Bearer "+token); who != issuertest.Name+"|alice" || err != nil {
			t.Errorf("%s: got %q, %v, want alice", algorithm, who, err)
		}
	}
	for name, authorization := range map[string]string{
		"another case of the scheme": "bEARER " + issuer.Token("alice"),
		"more blanks":                "Bearer   " + issuer.Token("alice") + "  ",
		"one audience of several":    "Bearer " + issuer.Sign("ES256", "ec", nil, issuertest.Claims("alice", map[string]any{"aud": []string{"x", issuertest.Audience}})),
		"no kid, and one key fits":   "Bearer " + issuer.Sign("ES256", "ec", map[string]any{"kid": nil}, issuertest.Claims("alice", nil)),
		"a fresh token":              "Bearer " + issuer.Sign("RS256", "rsa", nil, issuertest.Claims("alice", map[string]any{"jti": "another", "exp": time.Now().Unix() + 9999})),
	} {
		if who, err := identify(t, j, authorization); who != issuertest.Name+"|alice" || err != nil {
			t.Errorf("%s: got %q, %v, want alice", name, who, err)
		}
	}
}

// While an issuer's keys change, two may have one name, or none: a token is good by any that it may mean.
func TestATokenMayMeanOneOfSeveralKeys(t *testing.T) {
	before, after, forger := issuertest.Make(t), issuertest.Make(t), issuertest.Make(t)
	for _, named := range []bool{true, false} {
		var all struct {
			Keys []map[string]any `json:"keys"`
		}
		for _, issuer := range []*issuertest.Issuer{before, after} {
			var own struct {
				Keys []map[string]any `json:"keys"`
			}
			if err := json.Unmarshal(issuer.KeySet(), &own); err != nil {
				t.Fatal(err)
			}
			all.Keys = append(all.Keys, own.Keys...)
		}
		header := map[string]any{}
		if !named {
			header["kid"] = nil
			for _, key := range all.Keys {
				delete(key, "kid")
			}
		}
		path := filepath.Join(t.TempDir(), "keys.json")
		certstest.Write(t, path, mustJSON(t, all))
		keys, err := identity.OpenKeyFile("auth.jwt.jwks", path, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		j := verifier(t, keys)
		for i, issuer := range []*issuertest.Issuer{before, after, forger} {
			who, err := identify(t, j, "Bearer "+issuer.Sign("ES256", "ec", header, issuertest.Claims("alice", nil)))
			if good := i < 2; good != (err == nil) || good != (who == issuertest.Name+"|alice") {
				t.Errorf("named %v, %d: got %q, %v", named, i, who, err)
			}
		}
	}
}

// TestBadTokenIsRefused: whatever is wrong with it, and however well it is signed.
func TestBadTokenIsRefused(t *testing.T) {
	issuer, forger := issuertest.Make(t), issuertest.Make(t)
	j := verifier(t, inFile(t, issuer))
	now := time.Now().Unix()
	claims := func(name string, value any) map[string]any {
		return issuertest.Claims("alice", map[string]any{name: value})
	}
	signed := func(c map[string]any) string { return issuer.Sign("ES256", "ec", nil, c) }
	good := issuertest.Claims("alice", nil)
	token := issuer.Token("alice")
	for name, bad := range map[string]string{
		"no algorithm":                   issuer.Sign("none", "ec", nil, good),
		"no algorithm, in another case":  issuer.Sign("NONE", "ec", nil, good),
		"the public key as a shared one": issuer.Sign("HS256", "rsa", nil, good),
		"an algorithm not listed":        issuer.Sign("ES384", "ec", nil, good),
		"a key of another kind":          issuer.Sign("RS256", "rsa", map[string]any{"kid": "ec"}, good),
		"another algorithm than its own": issuer.Sign("RS256", "rsa", map[string]any{"alg": "PS256"}, good),
		"somebody else's key":            forger.Token("alice"),
		"a key that the token brings":    forger.Sign("ES256", "ec", map[string]any{"jwk": map[string]any{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}}, good),
		"an unknown key":                 issuer.Sign("ES256", "ec", map[string]any{"kid": "nobody's"}, good),
		"the name of a shared key":       issuer.Sign("RS256", "rsa", map[string]any{"kid": "shared"}, good),
		"a critical header":              issuer.Sign("ES256", "ec", map[string]any{"crit": []string{"exp"}, "exp": now + 60}, good),
		"a critical b64":                 issuer.Sign("ES256", "ec", map[string]any{"crit": []string{"b64"}, "b64": true}, good),
		"an empty list of critical ones": issuer.Sign("ES256", "ec", map[string]any{"crit": []string{}}, good),
		"another issuer":                 signed(claims("iss", "https://other.test")),
		"another issuer's case":          signed(claims("iss", strings.ToUpper(issuertest.Name))),
		"no issuer":                      signed(claims("iss", nil)),
		"another audience":               signed(claims("aud", "https://other.test/mcp")),
		"a part of the audience":         signed(claims("aud", "https://berth.test")),
		"no audience":                    signed(claims("aud", nil)),
		"an empty list of audiences":     signed(claims("aud", []string{})),
		"an audience that is a number":   signed(claims("aud", 7)),
		"expired":                        signed(claims("exp", now-31)),
		"no expiry":                      signed(claims("exp", nil)),
		"an expiry in words":             signed(claims("exp", "tomorrow")),
		"an expiry beyond all numbers":   signed(claims("exp", 1e300)),
		"not valid yet":                  signed(claims("nbf", now+60)),
		"issued in the future":           signed(claims("iat", now+60)),
		"no subject":                     signed(claims("sub", nil)),
		"an empty subject":               signed(claims("sub", "")),
		"a subject that is a number":     signed(claims("sub", 7)),
		"a subject too long":             signed(claims("sub", strings.Repeat("x", 1025))),
		"a claim in another case":        issuer.SignRaw("ES256", "ec", nil, []byte(`{"iss":"https://issuer.test","aud":"https://berth.test/mcp","exp":9999999999,"SUB":"alice"}`)),
		"a claim twice":                  issuer.SignRaw("ES256", "ec", nil, []byte(`{"iss":"https://issuer.test","aud":"https://berth.test/mcp","exp":9999999999,"sub":"bob","sub":"alice"}`)),
		"no UTF-8":                       issuer.SignRaw("ES256", "ec", nil, []byte("{\"iss\":\"https://issuer.test\",\"aud\":\"https://berth.test/mcp\",\"exp\":9999999999,\"sub\":\"al\xffice\"}")),
		"half a character":               issuer.SignRaw("ES256", "ec", nil, []byte(`{"iss":"https://issuer.test","aud":"https://berth.test/mcp","exp":9999999999,"sub":"al\ud800ice"}`)),
		"no object":                      issuer.SignRaw("ES256", "ec", nil, []byte(`"alice"`)),
		"nothing in it":                  issuer.SignRaw("ES256", "ec", nil, nil),
		"16 kB":                          signed(claims("x", strings.Repeat("x", 12<<10))),
		"a changed payload":              strings.Replace(token, ".", ".e", 1),
		"a changed signature":            token[:len(token)-8] + strings.Repeat("A", 8),
		"no signature":                   token[:strings.LastIndex(token, ".")+1],
		"two parts":                      token[:strings.LastIndex(token, ".")],
		"four parts":                     token + ".x",
		"two tokens":                     token + ", Bearer " + token,
		"no token":                       "",
		"dots":                           "..",
	} {
		who, err := identify(t, j, "Bearer "+bad)
		e := refusal(err)
		if who != "" || e.Status != http.StatusUnauthorized || !strings.HasPrefix(e.Challenge, `Bearer error="invalid_token", error_description="`) {
			t.Errorf("%s: got %q, %v, %q, want 401 invalid_token", name, who, err, e.Challenge)
		}
	}
}

func TestRequestWithoutATokenIsToldNoError(t *testing.T) {
	j := verifier(t, inFile(t, issuertest.Make(t)))
	want := `Bearer resource_metadata="https://berth.test/.well-known/oauth-protected-resource/mcp"`
	for name, authorization := range map[string][]string{"none": nil, "empty": {""}, "another scheme": {"Basic YTpi"}} {
		if e := refusal(second(identify(t, j, authorization...))); e.Status != http.StatusUnauthorized || e.Challenge != want {
			t.Errorf("%s: got %d, %q, want 401, %q", name, e.Status, e.Challenge, want)
		}
	}
}

func second(_ string, err error) error { return err }

// TestSeveralTokensAreNone: which of them an upstream believes nobody knows.
func TestSeveralTokensAreNone(t *testing.T) {
	issuer := issuertest.Make(t)
	j := verifier(t, inFile(t, issuer))
	token := "Bearer " + issuer.Token("alice")
	who, err := identify(t, j, token, token)
	if e := refusal(err); who != "" || e.Status != http.StatusBadRequest || !strings.Contains(e.Challenge, `error="invalid_request"`) {
		t.Errorf("got %q, %d, %q, want 400 invalid_request", who, e.Status, e.Challenge)
	}
}

func TestConfiguredAudienceTakesTheResourcesPlace(t *testing.T) {
	issuer := issuertest.Make(t)
	j := verifier(t, inFile(t, issuer))
	j.Audience = []string{"one", "two"}
	if who, err := identify(t, j, "Bearer "+issuer.Token("alice")); err == nil {
		t.Errorf("for the resource: got %q, want a refusal", who)
	}
	token := issuer.Sign("ES256", "ec", nil, issuertest.Claims("alice", map[string]any{"aud": "two"}))
	if who, err := identify(t, j, "Bearer "+token); err != nil {
		t.Errorf("for a configured one: got %q, %v", who, err)
	}
}

// TestOnlyListedAlgorithmsAreAccepted, however good the key.
func TestOnlyListedAlgorithmsAreAccepted(t *testing.T) {
	issuer := issuertest.Make(t)
	j := verifier(t, inFile(t, issuer))
	j.Algorithms = []string{"PS256"}
	for algorithm, want := range map[string]bool{"PS256": true, "RS256": false} {
		token := "Bearer " + issuer.Sign(algorithm, "rsa", nil, issuertest.Claims("alice", nil))
		if who, err := identify(t, j, token); (err == nil) != want {
			t.Errorf("%s: got %q, %v, want accepted: %v", algorithm, who, err, want)
		}
	}
}

// TestClocksMayDifferByTheLeeway: a second less is good, a second more is not.
func TestClocksMayDifferByTheLeeway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := issuertest.Make(t)
		j := verifier(t, inFile(t, issuer))
		token := "Bearer " + issuer.Sign("ES256", "ec", nil, issuertest.Claims("alice", map[string]any{"exp": time.Now().Unix() + 60}))
		time.Sleep(89 * time.Second)
		if _, err := identify(t, j, token); err != nil {
			t.Errorf("29 s after it expired: %v", err)
		}
		time.Sleep(2 * time.Second)
		if e := refusal(second(identify(t, j, token))); !strings.Contains(e.Challenge, "expired") {
			t.Errorf("31 s after it expired: got %q, want a refusal", e.Challenge)
		}
	})
}

// TestRefusalRepeatsNothingOfTheToken: error texts reach logs.
func TestRefusalRepeatsNothingOfTheToken(t *testing.T) {
	issuer := issuertest.Make(t)
	j := verifier(t, inFile(t, issuer))
	for _, changes := range []map[string]any{{"iss": "canary"}, {"aud": "canary"}, {"sub": "canary", "exp": 1}, {"sub": "canary\xff"}} {
		token := issuer.Sign("ES256", "ec", map[string]any{"kid": "canary"}, issuertest.Claims("canary", changes))
		e := refusal(second(identify(t, j, "Bearer "+token)))
		if text := e.Error() + e.Challenge; e.Status == 0 || strings.Contains(text, "canary") || strings.Contains(text, token[:8]) {
			t.Errorf("got %q, want nothing of the token", text)
		}
	}
}

// FuzzToken: no text is a principal unless the issuer signed it.
func FuzzToken(f *testing.F) {
	issuer := issuertest.Make(f)
	j := verifier(f, inFile(f, issuer))
	good := issuertest.Claims("alice", nil)
	f.Add(issuer.Sign("none", "ec", nil, good))
	f.Add(issuer.Sign("HS256", "rsa", nil, good))
	f.Add(issuer.Sign("ES256", "ec", map[string]any{"crit": []string{"exp"}}, good))
	f.Add(issuertest.Make(f).Token("alice"))
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		who, err := identify(t, j, "Bearer "+token)
		if who != "" || refusal(err).Status != http.StatusUnauthorized {
			t.Errorf("%q: got %q, %v, want 401", token, who, err)
		}
	})
}

// BenchmarkToken is what each request costs.
func BenchmarkToken(b *testing.B) {
	issuer := issuertest.Make(b)
	j := verifier(b, inFile(b, issuer))
	for algorithm, key := range map[string]string{"RS256": "rsa", "ES256": "ec", "EdDSA": "ed"} {
		token := "Bearer " + issuer.Sign(algorithm, key, nil, issuertest.Claims("alice", nil))
		b.Run(algorithm, func(b *testing.B) {
			b.ReportAllocs()
			r := (&wire.Request{Header: wire.NewHeader("Authorization", token)}).WithContext(b.Context())
			for b.Loop() {
				if _, err := j.Identify(r, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
