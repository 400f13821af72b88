package health

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/engine"
)

// What may not be asked is told of once a minute, by what the server said; and what lies at a key of berth's and is none of its own.
func TestRefusedReadsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log realtest.Journal
		r := &reads{log: slog.New(slog.NewJSONHandler(&log, nil))}
		told := func(refused, again, foreign int) {
			t.Helper()
			for words, want := range map[string]int{
				"store refuses what berth asks": refused, "store answers what berth asks again": again, "store holds what berth has not written": foreign,
			} {
				if got := log.Count(words); got != want {
					t.Errorf("%q is told %d times, want %d:\n%s", words, got, want, log.String())
				}
			}
		}
		forbidden := &engine.Fault{Op: engine.OpGet, Reason: engine.ReasonAuth, Refusal: true, Detail: "NOPERM no get"}
		r.Note(engine.OpGet, "", nil)
		r.Note(engine.OpGet, "", &engine.Fault{Op: engine.OpGet, Reason: engine.ReasonAuth}) // nobody is let in: an outage
		r.Note(engine.OpGet, "", &engine.Fault{Op: engine.OpGet, Reason: engine.ReasonTimeout})
		r.Note(engine.OpPut, "", &engine.Fault{Op: engine.OpPut, Reason: engine.ReasonAuth, Refusal: true}) // told of as a write
		told(0, 0, 0)
		r.Note(engine.OpGet, "", forbidden)
		r.Note(engine.OpMembers, "", forbidden)
		r.Note(engine.OpPut, "", nil)
		r.Note(engine.OpMembers, "", nil)
		r.Note(engine.OpGet, "another", nil)
		told(1, 0, 0)
		time.Sleep(2500 * time.Millisecond)
		r.Note(engine.OpGet, "", engine.ErrNotFound)
		r.Note(engine.OpGet, "", forbidden)
		told(1, 1, 0)
		time.Sleep(refusalEvery)
		r.Note(engine.OpMembers, "", forbidden)
		told(2, 1, 0)

		alien := &engine.Fault{Op: engine.OpSwap, Reason: engine.ReasonOther, Refusal: true, Foreign: true, Detail: "WRONGTYPE a list"}
		r.Note(engine.OpSwap, "", alien)
		r.Note(engine.OpGet, "", nil)
		r.Note(engine.OpSwap, "", alien)
		told(2, 1, 1)
		time.Sleep(refusalEvery)
		r.Note(engine.OpGet, "", nil)
		r.Note(engine.OpSwap, "", alien)
		told(2, 1, 2)
		for _, want := range []string{`"operation":"get","reason":"auth","error":"NOPERM no get"`, `"operation":"get","after":"2.5s"`, `"operation":"swap","error":"WRONGTYPE a list"`} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("got %s, want %s", log.String(), want)
			}
		}
	})
}
