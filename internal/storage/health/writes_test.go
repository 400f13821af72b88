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

// When a write was refused is told by a clock that nobody sets: a step back would have the store be doubted for as long.
func TestARefusalIsTimedByTheMonotonicClock(t *testing.T) {
	w := &writes{log: slog.New(slog.DiscardHandler)}
	if !w.Refused().IsZero() {
		t.Error("refused before it was")
	}
	before := time.Now()
	w.Note(engine.OpPut, "", &engine.Fault{Op: engine.OpPut, Reason: engine.ReasonOOM})
	at := w.Refused()
	if at == at.Round(0) {
		t.Error("it has no monotonic time")
	}
	if at.Before(before) || time.Since(at) > time.Minute {
		t.Errorf("it was refused at %v, want just now", at)
	}
}

// What refuses writes now and then is told of once a minute, by what it said.
func TestRefusedWritesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log realtest.Journal
		w := &writes{log: slog.New(slog.NewJSONHandler(&log, nil))}
		told := func(refused, taken int) {
			t.Helper()
			if got, again := log.Count("store refuses writes"), log.Count("store takes writes again"); got != refused || again != taken {
				t.Errorf("told %d and %d times, want %d and %d:\n%s", got, again, refused, taken, log.String())
			}
		}
		full := &engine.Fault{Op: engine.OpPut, Reason: engine.ReasonOOM, Detail: "OOM command not allowed"}
		w.Note(engine.OpPut, "", nil)
		w.Note(engine.OpPut, "", &engine.Fault{Op: engine.OpPut, Reason: engine.ReasonTimeout})
		told(0, 0)
		w.Note(engine.OpPut, "", full)
		w.Note(engine.OpEach, "", full)
		told(1, 0)
		w.Note(engine.OpGet, "", nil)
		w.Note(engine.OpDelete, "", nil)
		w.Note(engine.OpPutIfAbsent, "", nil)
		w.Note(engine.OpPut, "another", nil)
		told(1, 0)
		time.Sleep(2500 * time.Millisecond)
		w.Note(engine.OpSwap, "", nil)
		w.Note(engine.OpSwap, "", nil)
		w.Note(engine.OpPut, "", full)
		w.Note(engine.OpPut, "", nil)
		told(1, 1)
		time.Sleep(refusalEvery)
		w.Note(engine.OpPut, "", &engine.Fault{Op: engine.OpPut, Reason: engine.ReasonReadonly})
		told(2, 1)
		time.Sleep(refusalEvery)
		w.Note(engine.OpPut, "", nil)
		w.Note(engine.OpGet, "", &engine.Fault{Op: engine.OpGet, Reason: engine.ReasonAuth, Refusal: true})
		w.Note(engine.OpPut, "", &engine.Fault{Op: engine.OpPut, Reason: engine.ReasonAuth}) // nobody is let in
		told(2, 2)
		w.Note(engine.OpEach, "", &engine.Fault{Op: engine.OpEach, Reason: engine.ReasonAuth, Refusal: true, Detail: "NOPERM"})
		told(3, 2)
		time.Sleep(refusalEvery)
		w.Note(engine.OpPut, "", nil)
		w.Note(engine.OpPut, "", &engine.Fault{Op: engine.OpPut, Reason: engine.ReasonDisk, Refusal: true})
		told(4, 3)
		for _, want := range []string{`"reason":"oom","error":"OOM command not allowed"`, `"reason":"readonly"`, `"after":"2.5s"`, `"reason":"auth","error":"NOPERM"`} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("got %s, want %s", log.String(), want)
			}
		}
	})
}
