package upgrade

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// word is what a holder says of the store in its lease, by the store's clock. A process that
// has just started, and knows nothing yet, believes it: what its teller saw, nobody has to
// wait to see again.
type word struct {
	since time.Time // from then on the store has kept what it held, and took each renewal
	said  time.Time
}

// encode is the value of a lease. Berths up to 0.4 wrote the name alone, and read nothing.
func (w word) encode(holder string) []byte {
	return []byte(holder + " " + strconv.FormatInt(w.since.UnixMilli(), 10) + " " + strconv.FormatInt(w.said.UnixMilli(), 10))
}

func decodeWord(value []byte) (w word, ok bool) {
	fields := strings.Fields(string(value))
	if len(fields) != 3 {
		return word{}, false
	}
	since, errSince := strconv.ParseInt(fields[1], 10, 64)
	said, errSaid := strconv.ParseInt(fields[2], 10, 64)
	return word{time.UnixMilli(since), time.UnixMilli(said)}, errSince == nil && errSaid == nil
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

// stableSince is since when the store has kept what it held, as this process knows by itself
// or by another's word.
func (e *epoch) stableSince() time.Time {
	return e.since(e.store.Health().Since)
}

// isStable reports whether the store is well, and has been for as long as a lease lives.
func (e *epoch) isStable() bool {
	return e.store.Health().Healthy && time.Since(e.stableSince()) >= e.life
}

// word is what this process says of the store.
func (e *epoch) word(ctx context.Context) (word, error) {
	if err := e.clock.known(ctx); err != nil {
		return word{}, err
	}
	now := e.clock.now()
	return word{since: now.Add(-time.Since(e.stableSince())), said: now}, nil
}

// hear takes the words of other holders, of the dead too whose leases still stand. It has a
// process that has just started know what they knew.
func (e *epoch) hear(ctx context.Context, holders []string) {
	for _, holder := range holders {
		lease, err := e.store.Get(ctx, e.lists.leaseOf(holder))
		if holder == e.holder || err != nil {
			continue
		}
		if w, ok := decodeWord(lease.Value); ok && e.believe(w) {
			signal(e.renewal) // the next one may start before this one's next beat
		}
	}
}

// believe takes a word, and reports whether it was news. Whoever has seen the store lose
// something, or be away, knows better; and no word is good after a time of which nobody says
// anything.
func (e *epoch) believe(w word) bool {
	health := e.store.Health()
	silence := health.Since.Sub(e.clock.here(w.said))
	return health.Healthy && silence <= reach(e.life) && e.take(e.clock.here(w.since), health.Since)
}
