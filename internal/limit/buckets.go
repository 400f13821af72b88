package limit

import (
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/lapse"

	lru "github.com/hashicorp/golang-lru/v2"
)

const (
	// Burst is how many seconds' worth a bucket holds: who was quiet may be busy for a while.
	Burst      = 10
	remembered = 10_000 // how many callers have a bucket of their own
)

// Buckets bound a rate for each caller. The methods may be called concurrently. A nil *Buckets
// bounds nothing.
type Buckets struct {
	rate    float64 // tokens a second
	burst   int
	began   time.Time // when the buckets were made
	callers *lru.Cache[string, *bucket]
	recent  [recents]atomic.Pointer[bucket] // of these those who took last, where placeOf says
}

// bucket is what one caller has left.
type bucket struct {
	caller string
	used   atomic.Int64 // the second since 1970 in which it came to be the one that callers would forget last

	mu     sync.Mutex // guards the fields below
	tokens float64    // below 0: what it owes
	at     time.Time  // when it had them
}

// NewBuckets returns buckets that fill at perSecond; nil if that is 0.
func NewBuckets(perSecond float64) *Buckets {
	if perSecond <= 0 {
		return nil
	}
	return NewBucketsOf(perSecond, max(1, int(perSecond*Burst)))
}

// NewBucketsOf returns buckets that fill at perSecond and hold burst.
func NewBucketsOf(perSecond float64, burst int) *Buckets {
	b := &Buckets{rate: perSecond, burst: burst, began: time.Now()}
	callers, err := lru.NewWithEvict(remembered, b.forgotten)
	if err != nil {
		panic(err) // for sizes below one only
	}
	b.callers = callers
	return b
}

// forgotten has a bucket that is not among all any more be found by nobody.
func (b *Buckets) forgotten(caller string, k *bucket) {
	b.recent[placeOf(caller)].CompareAndSwap(k, nil)
}

// With returns buckets that fill at perSecond: b where they do so already, so that callers keep what
// they have left; new ones, which are full, otherwise.
func (b *Buckets) With(perSecond float64) *Buckets {
	if b != nil && b.rate == perSecond {
		return b
	}
	return NewBuckets(perSecond)
}

// Take takes n tokens, all or none. It returns 0, or when there are enough. More than a bucket holds
// are taken of a full one, which then owes the rest. None are there whatever a caller owes.
func (b *Buckets) Take(caller string, n int) (wait time.Duration) {
	if b == nil || n == 0 {
		return 0
	}
	now := lapse.From(b.began)
	k := b.of(caller, now)
	k.mu.Lock()
	defer k.mu.Unlock()
	tokens := b.in(k, now)
	if wait := b.until(tokens, min(n, b.burst)); wait > 0 {
		return wait
	}
	k.tokens, k.at = tokens-float64(n), now
	return 0
}

// Wait returns when caller's bucket holds a token, and takes none.
func (b *Buckets) Wait(caller string) time.Duration {
	if b == nil {
		return 0
	}
	return b.waitFor(b.of(caller, lapse.From(b.began)), 1)
}

// WaitFor is Take that takes nothing.
func (b *Buckets) WaitFor(caller string, n int) time.Duration {
	if b == nil || n == 0 {
		return 0
	}
	k, ok := b.callers.Peek(caller)
	if !ok {
		return 0 // it is full
	}
	return b.waitFor(k, min(n, b.burst))
}

func (b *Buckets) waitFor(k *bucket, n int) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return b.until(b.in(k, lapse.From(b.began)), n)
}

// in is how many tokens a bucket holds now. The caller has its lock.
func (b *Buckets) in(k *bucket, now time.Time) float64 {
	return min(k.tokens+max(0, now.Sub(k.at).Seconds())*b.rate, float64(b.burst))
}

// until is how long it takes a bucket that holds so many tokens to hold n, rounded up to milliseconds; 0 for less than a nanosecond.
func (b *Buckets) until(tokens float64, n int) time.Duration {
	missing := float64(n) - tokens
	if missing <= 0 {
		return 0
	}
	wait := time.Duration(missing / b.rate * float64(time.Second))
	return (wait + time.Millisecond - 1).Truncate(time.Millisecond)
}

// of is a caller's bucket, which is used now. One that is used again within a second is found by a comparison.
func (b *Buckets) of(caller string, now time.Time) *bucket {
	place, second := &b.recent[placeOf(caller)], now.Unix()
	if k := place.Load(); k != nil && k.used.Load() == second && k.caller == caller {
		return k
	}
	k := b.among(caller, now)
	k.used.Store(second)
	place.Store(k)
	return k
}

// among is a caller's bucket among all that are kept, of which it is forgotten last from now on.
func (b *Buckets) among(caller string, now time.Time) *bucket {
	if k, ok := b.callers.Get(caller); ok {
		return k
	}
	k := &bucket{caller: caller, tokens: float64(b.burst), at: now}
	if standing, ok, _ := b.callers.PeekOrAdd(caller, k); ok {
		return standing
	}
	return k
}
