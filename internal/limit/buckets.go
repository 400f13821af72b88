package limit

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

const (
	// Burst is how many seconds' worth a bucket holds: who was quiet may be busy for a while.
	Burst      = 10
	remembered = 10_000 // how many callers have a bucket of their own
)

// Buckets bound a rate for each caller. The methods may be called concurrently. A nil *Buckets
// bounds nothing.
type Buckets struct {
	rate    rate.Limit
	burst   int
	callers *lru.Cache[string, *rate.Limiter]
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
	callers, err := lru.New[string, *rate.Limiter](remembered)
	if err != nil {
		panic(err) // for sizes below one only
	}
	return &Buckets{rate: rate.Limit(perSecond), burst: burst, callers: callers}
}

// With returns buckets that fill at perSecond: b where they do so already, so that callers keep what
// they have left; new ones, which are full, otherwise.
func (b *Buckets) With(perSecond float64) *Buckets {
	if b != nil && b.rate == rate.Limit(perSecond) {
		return b
	}
	return NewBuckets(perSecond)
}

// Take takes n tokens, all or none. It returns 0, or when there are enough. More than a bucket holds
// are taken of a full one, which then owes the rest.
func (b *Buckets) Take(caller string, n int) (wait time.Duration) {
	if b == nil {
		return 0
	}
	bucket, now := b.of(caller), time.Now()
	most := min(n, b.burst)
	if !bucket.AllowN(now, most) {
		return b.until(bucket, now, most)
	}
	for n -= most; n > 0; n -= b.burst {
		bucket.ReserveN(now, min(n, b.burst))
	}
	return 0
}

// Wait returns when caller's bucket holds a token, and takes none.
func (b *Buckets) Wait(caller string) time.Duration {
	if b == nil {
		return 0
	}
	return b.until(b.of(caller), time.Now(), 1)
}

// WaitFor is Take that takes nothing.
func (b *Buckets) WaitFor(caller string, n int) time.Duration {
	if b == nil {
		return 0
	}
	bucket, ok := b.callers.Peek(caller)
	if !ok {
		return 0 // it is full
	}
	return b.until(bucket, time.Now(), min(n, b.burst))
}

// until is how long it takes the bucket to hold n tokens, rounded up to milliseconds.
func (b *Buckets) until(bucket *rate.Limiter, now time.Time, n int) time.Duration {
	missing := float64(n) - bucket.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	wait := time.Duration(missing / float64(b.rate) * float64(time.Second))
	return (wait + time.Millisecond - 1).Truncate(time.Millisecond)
}

func (b *Buckets) of(caller string) *rate.Limiter {
	if bucket, ok := b.callers.Get(caller); ok {
		return bucket
	}
	bucket := rate.NewLimiter(b.rate, b.burst)
	if standing, ok, _ := b.callers.PeekOrAdd(caller, bucket); ok {
		return standing
	}
	return bucket
}
