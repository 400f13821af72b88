// Package health follows a store through its outages, and through the time in which it refuses writes.
//
//	health.go                         whether the store serves, since when, and why not
//	writes.go, reads.go, refusals.go  whether it takes writes, and answers what else it is asked
package health

import (
	"log/slog"
	"sync"
	"time"

	"berth/internal/storage/engine"
)

// Status is what is known of a store.
type Status struct {
	// Healthy is false from when the breaker opens until an operation succeeds, and before the
	// first answer.
	Healthy bool
	Since   time.Time // when Healthy last changed, or when the store was opened

	// LastError says why the store is not healthy, without secrets; "" before the first answer.
	LastError string
	Answered  time.Time // when the store last served, as far as it is one on a server
	Back      time.Time // when it last was so again after it had been away; zero: it never was away

	// Evicts is the rule by which a full server drops keys that have not expired; "" if it drops
	// none, or is not known. Run asks for it.
	Evicts string

	Refuses Refusal // of writes; the zero value of a store that is away too, which takes none
}

// Monitor follows a store through its outages. It logs changes, not failures.
type Monitor struct {
	Log       *slog.Logger
	Recovered chan struct{}    // holds one recovery that nobody was told of yet
	Lost      func(why string) // is told of each outage; nil: nobody is
	Writes    writes
	Reads     reads

	mu     sync.Mutex // guards the fields below
	now    Status
	policy string // of the server; "" as long as nothing is known
	// known is false until the first outcome: an answer is no recovery then, and a failure an
	// outage.
	known bool
}

// New is a monitor of a store that is taken to be healthy, or not, before the first outcome.
func New(log *slog.Logger, healthy bool) *Monitor {
	return &Monitor{
		Log:       log,
		Writes:    writes{log: log},
		Reads:     reads{log: log},
		Recovered: make(chan struct{}, 1),
		now:       Status{Healthy: healthy, Since: time.Now()},
		known:     healthy,
	}
}

// Report takes in an outcome of now. closed asks the breaker under the lock: a failure that was overtaken
// by a recovery must not undo it.
func (h *Monitor) Report(closed func() bool, err error, now time.Time) {
	failed := !engine.Answered(err)
	h.mu.Lock()
	if !failed && h.known && h.now.Healthy { // as nearly always: nothing changes
		h.served(now)
		h.mu.Unlock()
		return
	}
	before, first := h.now, !h.known
	switch {
	case failed && before.Healthy && !closed():
		h.now.Healthy, h.now.Since, h.now.LastError = false, now, err.Error()
	case failed && !before.Healthy:
		h.now.LastError = err.Error()
	case !failed && !before.Healthy && closed():
		h.now.Healthy, h.now.Since, h.now.LastError = true, now, ""
		if h.known {
			h.now.Back = now
		}
	}
	h.known = true
	if !failed {
		h.served(now)
	}
	after := h.now
	h.mu.Unlock()

	h.announce(before, after, first)
}

// served notes that the store answered then; who reports that may be late. The lock is held.
func (h *Monitor) served(at time.Time) {
	if at.After(h.now.Answered) {
		h.now.Answered = at
	}
}

func (h *Monitor) announce(before, after Status, first bool) {
	switch {
	case after.Healthy && !before.Healthy && !first:
		h.Log.Info("store is back", "outage", after.Since.Sub(before.Since).Round(time.Millisecond).String())
		select {
		case h.Recovered <- struct{}{}:
		default: // the one that waits there will do
		}
	case !after.Healthy && (before.Healthy || first):
		h.Log.Warn("store lost", "error", after.LastError)
		if h.Lost != nil {
			h.Lost(after.LastError)
		}
	}
}

// Keep has what servers refuse that are not there any more stand no longer.
func (h *Monitor) Keep(there func(part string) bool) {
	h.Writes.keep(there)
	for _, r := range []*refusals{&h.Writes.refused, &h.Reads.refused, &h.Reads.foreign} {
		r.keep(there)
	}
}

// Snapshot is what is known now.
func (h *Monitor) Snapshot() Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now
	if now.Healthy {
		now.Refuses = h.Writes.longest()
	}
	return now
}

// SetPolicy notes what the server does when its memory is full, and returns what was known of that before; "": nothing.
func (h *Monitor) SetPolicy(policy string) (before string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, h.policy, h.now.Evicts = h.policy, policy, policy
	if policy == engine.KeepsAll {
		h.now.Evicts = ""
	}
	return before
}
