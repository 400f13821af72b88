package admission

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/journal"
	"berth/proxy/inbound"
)

// Its end is logged 10 s after the last request that was turned away, also where nobody asks for anything since.
func TestTheEndOfSheddingIsLoggedWithoutARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		g := New(inbound.Limits{}.WithDefaults(), nil, journal.New(&log).Logger(slog.LevelInfo))
		logged := func(begins, ends int) {
			t.Helper()
			synctest.Wait()
			if b, e := strings.Count(log.String(), "load is shed"), strings.Count(log.String(), "load is not shed any more"); b != begins || e != ends {
				t.Errorf("logged %d times, and %d times that it is over, want %d and %d", b, e, begins, ends)
			}
		}
		for episode := range 2 {
			_ = g.full(shedInFlight)
			time.Sleep(relieved / 2)
			_ = g.full(shedInFlight)
			time.Sleep(relieved - time.Second)
			logged(episode+1, episode)
			time.Sleep(2 * time.Second)
			logged(episode+1, episode+1)
		}
		time.Sleep(time.Hour)
		logged(2, 2)
	})
}
