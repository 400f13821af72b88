package health

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/engine"
)

// What a server refused that has been replaced stands no more: what its successor refuses is told.
func TestRefusalsOfAServerThatIsGoneStandNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log realtest.Journal
		h := New(slog.New(slog.NewTextHandler(&log, nil)), true)
		full := &engine.Fault{Op: engine.OpPut, Reason: engine.ReasonOOM, Refusal: true}
		forbidden := &engine.Fault{Op: engine.OpGet, Reason: engine.ReasonAuth, Refusal: true}
		alien := &engine.Fault{Op: engine.OpSwap, Reason: engine.ReasonOther, Refusal: true, Foreign: true}
		refuse := func(part string) {
			h.Writes.Note(engine.OpPut, part, full)
			h.Reads.Note(engine.OpGet, part, forbidden)
			h.Reads.Note(engine.OpSwap, part, alien)
		}
		told := func(want int) {
			t.Helper()
			for _, words := range []string{"store refuses writes", "store refuses what berth asks", "store holds what berth has not written"} {
				if got := log.Count(words); got != want {
					t.Errorf("%q is told %d times, want %d", words, got, want)
				}
			}
		}
		refuse("old")
		time.Sleep(refusalEvery)
		h.Keep(func(part string) bool { return true })
		refuse("new")
		told(1)
		h.Keep(func(part string) bool { return part == "new" })
		refuse("new")
		told(2)
	})
}
