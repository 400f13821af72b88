package access

import (
	"context"
	"time"

	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/upgrade"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

const (
	// takenFor is how long the word of upstreams counts that take a caller's
	// credentials. One who is refused logs in and comes back at once.
	takenFor, refusedFor = 30 * time.Second, 5 * time.Second

	checkTime  = 5 * time.Second // that asking for it may take
	maxChecked = 10_000          // callers remembered
)

// Checker checks credentials, and is the cache of what upstreams said of them. Where berth
// tells nobody apart, only they can say who may ask for a task that was made with others.
type Checker struct {
	ids      *upgrade.IDs
	misses   Misses
	verdicts *lru.Cache[string, verdict]
	bare     *lru.Cache[string, reaction] // to what bears no credentials
	flights  singleflight.Group
}

// Misses counts the unknown ids that callers name.
type Misses interface {
	// MayMiss refuses a caller who has named too many of late.
	MayMiss(caller string) error
	// Miss counts one.
	Miss(caller string)
}

// verdict is the word of a pool.
type verdict struct {
	err   error // nil: it takes the credentials
	until time.Time
}

// New returns a checker for the tasks with such ids, none of which is asked for where ids is nil.
func New(ids *upgrade.IDs, misses Misses) *Checker {
	return &Checker{ids: ids, misses: misses, verdicts: newCache[verdict](), bare: newCache[reaction]()}
}

func newCache[T any]() *lru.Cache[string, T] {
	cache, err := lru.New[string, T](maxChecked)
	if err != nil {
		panic(err) // for sizes below one only
	}
	return cache
}

// check fails if the pool does not take the caller's credentials: as it refuses them, with
// upgrade.ErrUnknown if it does not look at any, or with fault.NoWord while it does not say.
// What is asked for in vain is one of the unknown ids that a caller may name so many of.
func (c Caller) check(ctx context.Context) error {
	way, k := c.way, c.checker
	key := inbound.Joined(way.PoolName(), way.Credential(), way.Version(), way.Session)
	if said, ok := k.verdicts.Get(key); ok && time.Now().Before(said.until) {
		return said.err
	}
	if err := k.misses.MayMiss(way.Caller); err != nil {
		return err
	}
	_, err, _ := k.flights.Do(key, func() (any, error) {
		// It is asked for others, too, whose client is still there.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
		defer cancel()
		err := k.newInquiry(ctx, way, c.credentials.All != "").run(ctx)
		k.note(key, err)
		return nil, err
	})
	if err != nil && err != fault.NoWord {
		k.misses.Miss(way.Caller)
	}
	return err
}

// note remembers a verdict. That nobody says anything is none.
func (k *Checker) note(key string, err error) {
	life := refusedFor
	if err == nil {
		life = takenFor
	}
	if err != fault.NoWord {
		k.verdicts.Add(key, verdict{err, time.Now().Add(life)})
	}
}
