package series

import (
	"maps"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// maxKept bounds the series that are kept. Instruments have as many (package telemetry).
const maxKept = 1000

// Kept are series that are often asked for, by what they are labelled with: each is looked up once. Its methods may be
// called concurrently.
type Kept[K comparable, S any] struct {
	make   func(K) S
	mu     sync.Mutex                       // guards changes of known, and since
	known  atomic.Pointer[map[K]*one[K, S]] // what it points to does not change
	spread func(K) uint                     // nil: all are looked for in the map
	gone   *atomic.Uint64                   // how often series were forgotten of those that make makes
	since  uint64                           // gone, for what is known

	recent [recents]atomic.Pointer[one[K, S]] // those that were asked for last, where spread says
}

// recents is how many series are found by a comparison.
const recents = 64

// one is what a key stands for.
type one[K comparable, S any] struct {
	key    K
	series S
	gone   uint64 // Kept.gone before it was made
}

// Keep returns those that make makes.
func Keep[K comparable, S any](make func(K) S) *Kept[K, S] {
	k := &Kept[K, S]{make: make, gone: new(atomic.Uint64)}
	k.known.Store(&map[K]*one[K, S]{})
	return k
}

// KeepCounts returns those of a counter.
func KeepCounts[K comparable](counter metric.Int64Counter, attributes func(K) []attribute.KeyValue) *Kept[K, Count] {
	return Keep(func(key K) Count { return CountOf(counter, attributes(key)...) })
}

// Under has k look up anew what it keeps once the instrument that it is of has forgotten series. It is for the beginning.
func (k *Kept[K, S]) Under(instrument any) *Kept[K, S] {
	if forgets, ok := instrument.(interface{ Forgotten() *atomic.Uint64 }); ok {
		k.gone = forgets.Forgotten()
	}
	return k
}

// Spread has k compare a key with the one that was asked for last at the same place before it looks into its map: by says where,
// costs next to nothing, and differs between keys that are asked for in turns. It is for the beginning.
func (k *Kept[K, S]) Spread(by func(K) uint) *Kept[K, S] {
	k.spread = by
	return k
}

// PlaceOf is a number of a word, from its length and its end, for Spread.
func PlaceOf(word string) uint {
	n := len(word)
	if n == 0 {
		return 0
	}
	return uint(n) + uint(word[n-1])
}

// Of returns what key stands for.
func (k *Kept[K, S]) Of(key K) S {
	if k.spread == nil {
		return k.find(&key).series
	}
	recent := &k.recent[k.spread(key)%recents]
	last := recent.Load()
	if last == nil || last.key != key || last.gone != k.gone.Load() {
		last = k.find(&key)
		recent.Store(last)
	}
	return last.series
}

// find is Of by the map.
func (k *Kept[K, S]) find(key *K) *one[K, S] {
	gone := k.gone.Load()
	if found, ok := (*k.known.Load())[*key]; ok && found.gone == gone {
		return found
	}
	made := &one[K, S]{*key, k.make(*key), gone}
	k.keep(made)
	return made
}

func (k *Kept[K, S]) keep(made *one[K, S]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := *k.known.Load()
	if made.gone > k.since { // what was made before is looked up anew
		known, k.since = map[K]*one[K, S]{}, made.gone
	}
	if len(known) >= maxKept || made.gone < k.since {
		return
	}
	more := maps.Clone(known)
	more[made.key] = made
	k.known.Store(&more)
}
