package adminapi

import (
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/api"
	"berth/internal/bulletin"
	"berth/internal/trouble"
)

// What a berth that is gone told as recent counts as long as the last of it is recent.
func TestWhatWasRecentAtABerthThatIsGoneIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := func(state string, count int64) api.Berth {
			return api.Berth{State: state, Troubles: []api.Trouble{{Kind: string(trouble.Orphans), Count: count, Recent: count, Last: time.Now()}}}
		}
		berths := []api.Berth{told(bulletin.Serving, 1), told(bulletin.Draining, 2), told(bulletin.Gone, 4), told(bulletin.Dead, 8)}
		is := func(recent int64) {
			t.Helper()
			if got := sum(berths)[0]; got.Count != 15 || got.Recent != recent {
				t.Errorf("got %d, %d of them recent, want 15 and %d", got.Count, got.Recent, recent)
			}
		}
		time.Sleep(trouble.Recently - time.Second)
		is(15)
		time.Sleep(2 * time.Second)
		is(3) // who lives counts by itself
	})
}
