package identity_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"

	"berth/internal/identity"
	"berth/internal/identity/issuertest"
)

// direct reaches an issuer without a network, so that time can be a bubble's.
type direct struct{ issuer *issuertest.Issuer }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	d.issuer.ServeHTTP(answer, r)
	return answer.Result(), r.Context().Err()
}

// fetching runs a fetcher of the issuer's keys within a bubble until the test ends.
func fetching(t *testing.T, issuer *issuertest.Issuer, logs io.Writer) *identity.KeyFetcher {
	t.Helper()
	o := identity.FetcherOptions{URL: "https://issuer.test/keys", Transport: direct{issuer}}
	if logs != nil {
		o.Logger = slog.New(slog.NewTextHandler(logs, nil))
	}
	f := identity.NewKeyFetcher(o)
	run(t, f)
	synctest.Wait()
	return f
}

func run(t *testing.T, keys interface{ Run(context.Context) error }) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = keys.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
}

// flood presents n tokens of as many unknown keys, at once, and returns the statuses.
func flood(t *testing.T, j *identity.JWT, issuer *issuertest.Issuer, n int) map[int]int {
	t.Helper()
	claims := issuertest.Claims("alice", nil)
	var mu sync.Mutex
	statuses := map[int]int{}
	var group sync.WaitGroup
	for i := range n {
		token := "Bearer " + issuer.SignRaw("none", fmt.Sprint("unknown-", i), map[string]any{"alg": "ES256"}, mustJSON(t, claims))
		group.Go(func() {
			_, err := identify(t, j, token)
			mu.Lock()
			defer mu.Unlock()
			statuses[refusal(err).Status]++
		})
	}
	group.Wait()
	return statuses
}
