package upgrade

import (
	"strings"
	"testing"
	"time"
)

// A berth that sees to a dead one's call looks for the upstream of its session: that is told that the call was cancelled, and ended once its
// client has ended it.
func TestSessionEndsAtAnUpstreamThatIsLookedFor(t *testing.T) {
	for _, cancelled := range []bool{true, false} {
		oldWorld(t, func(_ *testing.T, s *settings) { s.shared = true }, func(t *testing.T, berths []*berth, old *oldServer) {
			old.nameless = true
			id := berths[0].handCore(t, rule(nil), 0)
			soon()
			berths[1].forgetUpstreams()
			if _, held, err := berths[1].Sessions.End(t.Context(), clientsKey(), behindKey(), nil); !held || err != nil {
				t.Fatal(held, err)
			}
			berths[0].kill()
			if cancelled {
				if _, err := berths[1].Steps.Cancel(t.Context(), id, somebody); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(4 * testLease)
			if told := old.told(); cancelled && (len(told) == 0 || !strings.Contains(told[0], "notifications/cancelled")) {
				t.Errorf("told %q", told)
			}
			if len(old.sessionsEnded()) == 0 {
				t.Errorf("cancelled %v: nobody ended the session upstream", cancelled)
			}
		})
	}
}

// A berth that goes hands over a call at an upstream that it has to look for itself.
func TestCallAtAnUpstreamThatIsLookedForIsHandedOver(t *testing.T) {
	oldWorld(t, func(_ *testing.T, s *settings) { s.shared = true }, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		berths[0].forgetUpstreams()
		berths[0].leave(t)
		soon()
		if berths[0].Held() != 0 || berths[1].Held() != 1 {
			t.Fatalf("it is held %d and %d times", berths[0].Held(), berths[1].Held())
		}
		old.call(t, 0).answer(`{}`)
		soon()
		berths[1].mustState(t, id, Completed)
	})
}
