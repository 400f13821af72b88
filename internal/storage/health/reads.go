package health

import (
	"errors"
	"log/slog"

	"berth/internal/storage/engine"
)

// reads follows whether a server answers what changes nothing, which a right that is missing keeps it from, and tells of keys that
// hold what berth has not written. It logs changes, not refusals.
type reads struct {
	log     *slog.Logger
	refused refusals
	foreign refusals
}

// Note takes in the outcome of an operation at a server.
func (r *reads) Note(op, part string, err error) {
	if engine.Answered(err) {
		if r.refused.standing.Load() {
			r.refused.end(r.log, op, part, "store answers what berth asks again", "operation", op)
		}
		if r.foreign.standing.Load() { // others lie at other keys
			r.foreign.standing.Store(false)
		}
		return
	}
	f, failed := errors.AsType[*engine.Fault](err)
	switch {
	case !failed:
	case f.Foreign:
		if !r.foreign.standing.Load() {
			r.foreign.begin(r.log, op, part, "store holds what berth has not written", "operation", op, "error", f.Detail)
		}
	case f.Refusal && f.Reason == engine.ReasonAuth && !engine.Writes(op) && !r.refused.standing.Load():
		r.refused.begin(r.log, op, part, "store refuses what berth asks", "operation", op, "reason", string(f.Reason), "error", f.Detail)
	}
}
