package health

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage/engine"
)

// That writes are refused is known from the first refusal to the next write that is taken, whether the log tells of it or not; since when
// is that of the server that has refused for longest.
func TestRefusalOfWritesIsKnownWhileItLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(slog.New(slog.DiscardHandler), true)
		is := func(reason engine.Reason, since time.Time) {
			t.Helper()
			want := Refusal{Reason: reason, Since: since}
			if got := h.Snapshot().Refuses; got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
		refuse := func(part string, reason engine.Reason) {
			h.Writes.Note(engine.OpPut, part, &engine.Fault{Op: engine.OpPut, Reason: reason, Refusal: true})
		}
		is("", time.Time{})
		first := time.Now()
		refuse("one", engine.ReasonOOM)
		time.Sleep(time.Second)
		refuse("two", engine.ReasonReadonly)
		refuse("one", engine.ReasonDisk)
		is(engine.ReasonDisk, first)
		h.Writes.Note(engine.OpDelete, "one", nil)
		h.Writes.Note(engine.OpGet, "one", nil)
		is(engine.ReasonDisk, first)
		h.Writes.Note(engine.OpSwap, "one", nil)
		is(engine.ReasonReadonly, first.Add(time.Second))
		h.Keep(func(part string) bool { return part == "one" })
		is("", time.Time{})
		refuse("one", engine.ReasonOOM)
		is(engine.ReasonOOM, first.Add(time.Second))
		h.Writes.Note(engine.OpPut, "one", nil)
		is("", time.Time{})
	})
}
