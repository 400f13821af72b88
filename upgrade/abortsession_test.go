package upgrade

import (
	"testing"
	"time"
)

// A session that its client has ended is ended upstream once its last call is over, also where that is a creation of which the
// store's answer was lost.
func TestSessionEndsWithACreationThatFailed(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		berths[0].line.atOnce = true
		berths[0].line.muteOne(func() bool { return true })
		c := creation(rule(nil), "call")
		c.Version, c.Core, c.Session, c.Prefer = "2025-11-25", true, clientsSession, "u"
		c.Call.Session = "the upstream's"
		if _, err := berths[0].Maker.Create(t.Context(), c); err == nil {
			t.Fatal("a task was made though the store has not answered")
		}
		berths[0].line.muteOne(nil)
		if _, held, err := berths[1].Sessions.End(t.Context(), clientsKey(), behindKey(), nil); err != nil || !held {
			t.Fatalf("the session's end: held %v, %v, want it to wait for the call", held, err)
		}
		time.Sleep(10 * time.Minute)
		if len(old.sessionsEnded()) == 0 {
			t.Error("nobody ended the session upstream")
		}
	})
}
