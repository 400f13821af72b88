package health

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"berth/internal/storage/engine"
)

// writes follows whether the store takes them: servers that refuse writes answer all else, which is no outage. It logs changes, not
// refusals.
type writes struct {
	log     *slog.Logger
	refused refusals
	last    atomic.Pointer[time.Time] // when it was refused last, by the monotonic clock too; nil: never
}

// Note takes in the outcome of an operation at a server.
func (w *writes) Note(op, part string, err error) {
	if err == nil {
		if w.refused.standing.Load() && (op == engine.OpPut || op == engine.OpSwap) { // others may change nothing
			w.refused.end(w.log, "", part, "store takes writes again")
		}
		return
	}
	if f, failed := errors.AsType[*engine.Fault](err); failed && refusesWrites(op, f) {
		w.last.Store(new(time.Now()))
		if !w.refused.standing.Load() {
			w.refused.begin(w.log, "", part, "store refuses writes", "reason", string(f.Reason), "error", f.Detail)
		}
	}
}

// Refused is when a write was refused last; the zero time: never.
func (w *writes) Refused() time.Time {
	if at := w.last.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

func refusesWrites(op string, f *engine.Fault) bool {
	switch f.Reason {
	case engine.ReasonOOM, engine.ReasonReadonly, engine.ReasonUnreplicated, engine.ReasonDisk:
		return true
	case engine.ReasonAuth:
		return f.Refusal && engine.Writes(op) // else it is an outage
	}
	return false
}
