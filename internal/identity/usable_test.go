package identity_test

import (
	"context"
	"net/http"
	"testing"

	"berth/internal/identity"
	"berth/internal/identity/issuertest"
)

// Keys that no accepted token can be signed by are as good as none.
func TestUsableCountsKeysForTheAlgorithms(t *testing.T) {
	issuer := issuertest.New(t)
	for name, keys := range map[string]interface {
		Usable(context.Context, []string) (int, error)
	}{
		"fetched": identity.NewKeyFetcher(identity.FetcherOptions{URL: issuer.URL}),
		"file":    inFile(t, issuer),
	} {
		if got, err := keys.Usable(t.Context(), []string{"ES256"}); got != 1 || err != nil {
			t.Errorf("%s: got %d, %v, want one key for ES256", name, got, err)
		}
		if got, err := keys.Usable(t.Context(), []string{"ES512"}); got != 0 || err == nil {
			t.Errorf("%s: got %d, %v, want an error: there is none for ES512", name, got, err)
		}
	}
	issuer.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	if got, err := identity.NewKeyFetcher(identity.FetcherOptions{URL: issuer.URL}).Usable(t.Context(), []string{"ES256"}); err == nil {
		t.Errorf("an issuer that is away: got %d keys, want an error", got)
	}
}
