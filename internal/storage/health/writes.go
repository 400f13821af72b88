package health

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/storage/engine"
)

// refusalEvery is how often the log tells, at most, that writes begin to be refused.
const refusalEvery = time.Minute

// writes follows whether the store takes them: servers that refuse writes answer all else, which is no outage. It logs changes, not
// refusals.
type writes struct {
	log *slog.Logger

	refused atomic.Bool  // the log has said so
	last    atomic.Int64 // when it was refused last, in ns of Unix time; 0: never

	mu   sync.Mutex // guards the fields below
	part string     // the server that refuses
	said time.Time  // when the log did last; zero: never
}

// Note takes in the outcome of an operation at a server.
func (w *writes) Note(op, part string, err error) {
	if err == nil {
		if w.refused.Load() && (op == engine.OpPut || op == engine.OpSwap) { // others may change nothing
			w.taken(part)
		}
		return
	}
	if f, failed := errors.AsType[*engine.Fault](err); failed && refusesWrites(op, f) {
		w.last.Store(time.Now().UnixNano())
		if !w.refused.Load() {
			w.refuse(part, f)
		}
	}
}

// Refused is when a write was refused last; the zero time: never.
func (w *writes) Refused() time.Time {
	if at := w.last.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

func refusesWrites(op string, f *engine.Fault) bool {
	switch f.Reason {
	case engine.ReasonOOM, engine.ReasonReadonly, engine.ReasonUnreplicated:
		return true
	case engine.ReasonAuth:
		return f.Refusal && engine.Writes(op) // else it is an outage
	}
	return false
}

func (w *writes) refuse(part string, f *engine.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if w.refused.Load() || !w.said.IsZero() && now.Sub(w.said) < refusalEvery {
		return
	}
	w.part, w.said = part, now
	w.refused.Store(true)
	w.log.Warn("store refuses writes", "reason", string(f.Reason), "error", f.Detail)
}

func (w *writes) taken(part string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused.Load() && w.part == part {
		w.refused.Store(false)
		w.log.Info("store takes writes again", "after", time.Since(w.said).Round(time.Millisecond).String())
	}
}
