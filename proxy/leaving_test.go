package proxy_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
)

// A session's standing stream that had nowhere to go, when its upstream began to drain, leaves it as
// soon as another one takes sessions.
func TestStandingStreamLeavesOnceOthersAreBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{}))
		session := f.initialize()
		f.furnish(session)
		moves := routing.Drain{Since: time.Now(), MoveSessions: true}
		f.pool.SetDrains(map[string]routing.Drain{"a": moves, "b": moves, "c": moves})
		standing := f.open(f.request(t.Context(), http.MethodGet, "", legacyHeader(session)...))
		defer standing.Body.Close()
		ended := make(chan error, 1)
		go func() {
			_, err := io.ReadAll(standing.Body)
			ended <- err
		}()
		time.Sleep(time.Minute)
		select {
		case err := <-ended:
			t.Fatalf("the stream ended, with %v, while nobody else takes sessions", err)
		default:
		}
		f.pool.SetDrains(map[string]routing.Drain{"a": moves})
		time.Sleep(time.Minute)
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the stream ended with %v", err)
			}
		default:
			t.Error("the stream stays at an upstream that sessions are to leave")
		}
		if got := f.who(session); got == "a" {
			t.Error("the session stays at a")
		}
	})
}
