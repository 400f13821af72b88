package ledger

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// Word is what a holder says of the store in its lease, by the store's clock. A process that
// has just started, and knows nothing yet, believes it: what its teller saw, nobody has to
// wait to see again.
type Word struct {
	Since time.Time // from then on the store has kept what it held, and took each renewal
	Said  time.Time
}

// encode is the value of a lease: beside the holder's name stands how long it lives, in milliseconds, where no berth looks that does
// not know of it. Berths up to 0.4 wrote the name alone, and read nothing; those up to 0.11 no life.
func (w Word) encode(holder string, life time.Duration) []byte {
	return []byte(holder + "/" + strconv.FormatInt(life.Milliseconds(), 10) + " " + strconv.FormatInt(w.Since.UnixMilli(), 10) + " " + strconv.FormatInt(w.Said.UnixMilli(), 10))
}

// lifeOf is how long a lease lives once it is renewed, as its value says; LongestLease if that does not say so.
func lifeOf(value []byte) time.Duration {
	name, _, _ := strings.Cut(string(value), " ")
	_, life, _ := strings.Cut(name, "/")
	if ms, err := strconv.ParseInt(life, 10, 64); err == nil && ms > 0 {
		return time.Duration(ms) * time.Millisecond
	}
	return LongestLease
}

// DecodeWord reads the value of a lease. Those of berths up to 0.4 have no word.
func DecodeWord(value []byte) (w Word, ok bool) {
	fields := strings.Fields(string(value))
	if len(fields) != 3 {
		return Word{}, false
	}
	since, errSince := strconv.ParseInt(fields[1], 10, 64)
	said, errSaid := strconv.ParseInt(fields[2], 10, 64)
	return Word{time.UnixMilli(since), time.UnixMilli(said)}, errSince == nil && errSaid == nil
}

// reach is the longest time for which nobody need have seen the store. A lease outlives it
// by what its holder needs to renew it: of an outage that is no longer, nobody's runs out.
func reach(life time.Duration) time.Duration { return life * 4 / 9 }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// IsStable reports whether the store is well, and has been for as long as a lease lives.
func (e *Epoch) IsStable() bool {
	return e.store.Health().Healthy && time.Since(e.keptSince(e.watched())) >= e.Life
}

// watched is since when this process has watched the store, and found it well. Its connection may be older than its
// tasks: what was lost before they began nobody noticed.
func (e *Epoch) watched() time.Time { return later(e.store.Health().Since, e.begun) }

// word is what this process says of the store.
func (e *Epoch) word(ctx context.Context) (Word, error) {
	if err := e.clock.Known(ctx); err != nil {
		return Word{}, err
	}
	now := e.clock.Now()
	return Word{Since: now.Add(-time.Since(e.keptSince(e.watched()))), Said: now}, nil
}

// Hear takes the words of other holders, of the dead too whose leases still stand. It has a
// process that has just started know what they knew.
func (e *Epoch) Hear(ctx context.Context, holders []string) {
	for _, holder := range holders {
		lease, err := e.store.Get(ctx, e.lists.LeaseOf(holder))
		if holder == e.holder || err != nil {
			continue
		}
		if w, ok := DecodeWord(lease.Value); ok && e.believe(w) {
			Signal(e.Renewal) // the next one may start before this one's next beat
		}
	}
}

// believe takes a word, and reports whether it was news. Whoever has seen the store lose
// something, or be away, knows better; and no word is good after a time of which nobody says
// anything.
func (e *Epoch) believe(w Word) bool {
	watched := e.watched()
	silence := watched.Sub(e.clock.Here(w.Said))
	return e.store.Health().Healthy && silence <= reach(e.Life) && e.take(e.clock.Here(w.Since), watched)
}
