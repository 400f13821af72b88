package identity_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/certs/certstest"
	"berth/internal/identity"
	"berth/internal/identity/issuertest"
)

// TestUnknownKeysAreFetchedOnceIn30Seconds, however many tokens name however many.
func TestUnknownKeysAreFetchedOnceIn30Seconds(t *testing.T) {
	const tokens = 1_000
	synctest.Test(t, func(t *testing.T) {
		issuer := issuertest.Make(t)
		j := verifier(t, fetching(t, issuer, nil))
		for _, step := range []struct {
			after time.Duration // the last fetch
			want  int64         // fetches since the start
		}{{0, 1}, {31 * time.Second, 2}, {0, 2}} {
			time.Sleep(step.after)
			if got := flood(t, j, issuer, tokens); got[http.StatusUnauthorized] != tokens {
				t.Errorf("%v after a fetch: got %v, want 401 for all", step.after, got)
			}
			if got := issuer.Fetches.Load(); got != step.want {
				t.Errorf("%v after a fetch: got %d fetches, want %d", step.after, got, step.want)
			}
		}
	})
}

// TestUnknownKeysOfARealIssuer is the same over sockets.
func TestUnknownKeysOfARealIssuer(t *testing.T) {
	issuer := issuertest.New(t)
	f := identity.NewKeyFetcher(identity.FetcherOptions{URL: issuer.URL})
	run(t, f)
	j := verifier(t, f)
	if who, err := identify(t, j, "Bearer "+issuer.Token("alice")); err != nil {
		t.Fatalf("got %q, %v, want alice: the first request waits for the first fetch", who, err)
	}
	began := time.Now()
	flood(t, j, issuer, 2_000)
	if got, due := issuer.Fetches.Load(), 1+int64(time.Since(began)/(30*time.Second)); got > due {
		t.Errorf("got %d fetches, want at most %d", got, due)
	}
}

func TestRotatedKeyIsFetchedWhenATokenNamesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := issuertest.Make(t)
		j := verifier(t, fetching(t, issuer, nil))
		time.Sleep(time.Minute)
		issuer.Rotate("-2")
		token := "Bearer " + issuer.Sign("RS256", "rsa-2", nil, issuertest.Claims("alice", nil))
		if who, err := identify(t, j, token); who == "" || err != nil {
			t.Errorf("got %q, %v, want alice", who, err)
		}
	})
}

// An issuer may give a new key the name of the one before, or no name: a token that no key verifies has the keys fetched as one of an
// unknown key has.
func TestAKeyThatTakesANameOverIsFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := issuertest.Make(t)
		j := verifier(t, fetching(t, issuer, nil))
		forged := "Bearer " + issuertest.Make(t).Token("alice")
		for round, want := range []int64{2, 3} {
			time.Sleep(31 * time.Second)
			issuer.Rotate("")
			header := []map[string]any{nil, {"kid": nil}}[round]
			token := "Bearer " + issuer.Sign("RS256", "rsa", header, issuertest.Claims("alice", nil))
			if who, err := identify(t, j, token); who == "" || err != nil {
				t.Errorf("round %d: got %q, %v, want alice", round, who, err)
			}
			for range 10 {
				if _, err := identify(t, j, forged); refusal(err).Status != http.StatusUnauthorized {
					t.Errorf("round %d, forged: got %v, want 401", round, err)
				}
			}
			if got := issuer.Fetches.Load(); got != want {
				t.Errorf("round %d: got %d fetches, want %d", round, got, want)
			}
		}
	})
}

// TestWithdrawnKeyIsDropped: keys are fetched though no token asks for any.
func TestWithdrawnKeyIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := issuertest.Make(t)
		j := verifier(t, fetching(t, issuer, nil))
		token := "Bearer " + issuer.Token("alice")
		issuer.Rotate("")
		if _, err := identify(t, j, token); err != nil {
			t.Errorf("before the next fetch: %v", err)
		}
		time.Sleep(5*time.Minute + time.Second)
		if who, err := identify(t, j, token); err == nil {
			t.Errorf("after it: got %q, want a refusal", who)
		}
	})
}

// TestKeysStayWhileTheIssuerIsAway: in use, and what they do not hold is not refused
// for good.
func TestKeysStayWhileTheIssuerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := issuertest.Make(t)
		var logs bytes.Buffer
		f := fetching(t, issuer, &logs)
		j := verifier(t, f)
		issuer.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
		time.Sleep(59 * time.Minute)
		if who, err := identify(t, j, "Bearer "+issuer.Token("alice")); err != nil {
			t.Errorf("a known key: got %q, %v, want alice", who, err)
		}
		if got := flood(t, j, issuer, 100); got[http.StatusServiceUnavailable] != 100 {
			t.Errorf("unknown keys: got %v, want 503", got)
		}
		if ok, detail := f.Ready(); !ok || !strings.Contains(detail, "502") {
			t.Errorf("got ready %v, %q, want degraded, with the status", ok, detail)
		}
		if n := strings.Count(logs.String(), "cannot be fetched"); n != 1 {
			t.Errorf("logged %d times, want once:\n%s", n, &logs)
		}
		issuer.Answer(nil)
		time.Sleep(time.Minute)
		if ok, detail := f.Ready(); !ok || detail != "" {
			t.Errorf("back again: got ready %v, %q", ok, detail)
		}
		if got := flood(t, j, issuer, 100); got[http.StatusUnauthorized] != 100 {
			t.Errorf("back again, unknown keys: got %v, want 401", got)
		}
	})
}

// TestNobodyIsRefusedBeforeThereAreKeys: a client that is refused logs in again, and
// would be refused again.
func TestNobodyIsRefusedBeforeThereAreKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := issuertest.Make(t)
		issuer.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
		f := fetching(t, issuer, nil)
		j := verifier(t, f)
		token := "Bearer " + issuer.Token("alice")
		e := refusal(second(identify(t, j, token)))
		if e.Status != http.StatusServiceUnavailable || e.Code != -31503 || e.Reason != "keys_unavailable" || e.RetryAfter <= 0 || e.Challenge != "" {
			t.Errorf("got %+v, want 503 -31503 keys_unavailable", e)
		}
		if ok, _ := f.Ready(); ok {
			t.Error("ready without keys")
		}
		before := issuer.Fetches.Load()
		flood(t, j, issuer, 1000)
		if got := issuer.Fetches.Load() - before; got != 0 {
			t.Errorf("tokens caused %d fetches, want none", got)
		}
		issuer.Answer(nil)
		time.Sleep(3 * time.Second)
		if who, err := identify(t, j, token); err != nil {
			t.Errorf("once there are keys: got %q, %v, want alice", who, err)
		}
		if ok, detail := f.Ready(); !ok || detail != "" {
			t.Errorf("once there are keys: got ready %v, %q", ok, detail)
		}
	})
}

// TestAbsentIssuerIsAskedLessAndLess before there are keys.
func TestAbsentIssuerIsAskedLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := issuertest.Make(t)
		issuer.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
		fetching(t, issuer, nil)
		time.Sleep(31*time.Second + time.Millisecond) // 0, 1, 3, 7, 15, 31
		if got := issuer.Fetches.Load(); got != 6 {
			t.Errorf("in the first 31 s: got %d, want 6", got)
		}
		time.Sleep(5 * time.Minute)
		if got := issuer.Fetches.Load(); got != 16 {
			t.Errorf("in the next 5 min: got %d, want 10 more", got-6)
		}
	})
}

// TestUnusableAnswersLeaveTheKeysThatWereThere.
func TestUnusableAnswersLeaveTheKeysThatWereThere(t *testing.T) {
	other := issuertest.Make(t)
	for name, answer := range map[string]http.HandlerFunc{
		"an error":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"no JSON":     func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>") },
		"no keys":     func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"keys":[]}`) },
		"shared keys": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"keys":[{"kty":"oct","k":"AAAA"}]}`) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/keys" {
				http.Redirect(w, r, "http://elsewhere.test/others", http.StatusFound)
				return
			}
			other.ServeHTTP(w, r)
		},
		"more than 1 MiB": func(w http.ResponseWriter, _ *http.Request) {
			w.Write(other.KeySet())
			w.Write(bytes.Repeat([]byte(" "), 1<<20))
		},
		"a silence": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				issuer := issuertest.Make(t)
				f := fetching(t, issuer, nil)
				j := verifier(t, f)
				issuer.Answer(answer)
				time.Sleep(5*time.Minute + 10*time.Second)
				if issuer.Fetches.Load() < 2 {
					t.Fatal("nothing was fetched anew, so nothing was tested")
				}
				if who, err := identify(t, j, "Bearer "+issuer.Token("alice")); err != nil {
					t.Errorf("got %q, %v, want alice", who, err)
				}
				if _, detail := f.Ready(); detail == "" {
					t.Error("nothing is said to be wrong")
				}
			})
		})
	}
}

// TestChangedKeyFileIsTakenOver is the same for keys in a file.
func TestChangedKeyFileIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		issuer := issuertest.Make(t)
		path, keys := keyFile(t, issuer)
		run(t, keys)
		j := verifier(t, keys)
		issuer.Rotate("-2")
		certstest.Write(t, path, issuer.KeySet())
		time.Sleep(6 * time.Second)
		token := "Bearer " + issuer.Sign("EdDSA", "ed-2", nil, issuertest.Claims("alice", nil))
		if who, err := identify(t, j, token); err != nil {
			t.Errorf("got %q, %v, want alice", who, err)
		}
		certstest.Write(t, path, []byte("{}"))
		time.Sleep(6 * time.Second)
		if who, err := identify(t, j, token); err != nil {
			t.Errorf("with no keys in the file: got %q, %v, want alice", who, err)
		}
		if ok, detail := keys.Ready(); !ok || !strings.Contains(detail, path) {
			t.Errorf("got ready %v, %q, want what is wrong with the file", ok, detail)
		}
	})
}
