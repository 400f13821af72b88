package proxy_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
)

// The stream of a session is relayed once the steps that have sent for it are over: it holds its upstream until it ends all
// the same, and nothing after that.
func TestASessionsStreamHoldsItsUpstreamUntilItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{size: 1})
		session, u := f.initialize(), f.pool.Find("a")
		leave := f.beside(func(ctx context.Context) *http.Request {
			return f.request(ctx, http.MethodGet, "", legacyHeader(session)...)
		})
		if u.InFlight() != 1 || u.Busy() != 0 || len(f.proxy.Standing()) != 1 {
			t.Errorf("while it stands: %d in flight, %d busy, %d told", u.InFlight(), u.Busy(), len(f.proxy.Standing()))
		}
		leave()
		synctest.Wait()
		if u.InFlight() != 0 || u.Busy() != 0 || len(f.proxy.Standing()) != 0 {
			t.Errorf("after it: %d in flight, %d busy, %d told", u.InFlight(), u.Busy(), len(f.proxy.Standing()))
		}
	})
}
