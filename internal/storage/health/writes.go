package health

import (
	"errors"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/storage/engine"
)

// Refusal is that writes are refused. The zero value: they are taken.
type Refusal struct {
	Reason engine.Reason
	Since  time.Time
}

// writes follows whether the store takes them: servers that refuse writes answer all else, which is no outage. It logs changes, not
// refusals.
type writes struct {
	log     *slog.Logger
	refused refusals
	last    atomic.Pointer[time.Time] // when it was refused last, by the monotonic clock too; nil: never

	mu       sync.Mutex         // guards the field below
	refusing map[string]Refusal // servers whose last write was refused
	any      atomic.Bool        // refusing has some
}

// Note takes in the outcome of an operation at a server.
func (w *writes) Note(op, part string, err error) {
	if err == nil {
		if w.any.Load() && (op == engine.OpPut || op == engine.OpSwap) { // others may change nothing
			w.keep(func(refuses string) bool { return refuses != part })
			w.refused.end(w.log, "", part, "store takes writes again")
		}
		return
	}
	if f, failed := errors.AsType[*engine.Fault](err); failed && refusesWrites(op, f) {
		now := time.Now()
		w.last.Store(&now)
		w.refuse(part, f.Reason, now)
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

func (w *writes) refuse(part string, reason engine.Reason, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	since := now
	if before, ok := w.refusing[part]; ok {
		since = before.Since
	}
	if w.refusing == nil {
		w.refusing = map[string]Refusal{}
	}
	w.refusing[part] = Refusal{Reason: reason, Since: since}
	w.any.Store(true)
}

// keep forgets what servers refuse that are not there any more, or take writes again.
func (w *writes) keep(there func(part string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.refusing, func(part string, _ Refusal) bool { return !there(part) })
	w.any.Store(len(w.refusing) > 0)
}

// longest is the refusal that stands for longest, of those that stand.
func (w *writes) longest() (longest Refusal) {
	if !w.any.Load() {
		return Refusal{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.refusing {
		if longest.Since.IsZero() || r.Since.Before(longest.Since) {
			longest = r
		}
	}
	return longest
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
