package proxy

import (
	"context"
	"slices"
	"time"

	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/upgrade"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
)

const (
	// vouchedFor is how long the word of upstreams counts that take a caller's
	// credentials. One who is refused logs in and comes back at once.
	vouchedFor, refusedFor = 30 * time.Second, 5 * time.Second

	vouchTime  = 5 * time.Second // that asking for it may take
	maxVouched = 10_000          // callers remembered
)

// vouched is what upstreams say of callers' credentials. Where berth tells nobody apart,
// only they can say who may ask for a task that was made with other credentials.
type vouched struct {
	verdicts *lru.Cache[string, verdict]
	bare     *lru.Cache[string, reaction] // to what bears no credentials
	flights  singleflight.Group
}

// verdict is the word of a pool.
type verdict struct {
	err   error // nil: it takes the credentials
	until time.Time
}

func newVouched() *vouched {
	return &vouched{verdicts: newRecent[verdict](), bare: newRecent[reaction]()}
}

func newRecent[T any]() *lru.Cache[string, T] {
	recent, err := lru.New[string, T](maxVouched)
	if err != nil {
		panic(err) // for sizes below one only
	}
	return recent
}

// mayAsk refuses a caller who must not be told anything of an upgraded task. With a
// principal the task says whose it is. Without, it is told to who made it, by the same
// credentials, and to other credentials that may be its creator's and that the pool takes.
// Of a task that was not found, the zero Task, nobody is the creator, so that the answer
// does not tell whether there is one.
func (x *request) mayAsk(ctx context.Context, task upgrade.Task) error {
	if x.Principal != "" {
		return nil
	}
	return x.asStranger().mayAsk(ctx, task)
}

// stranger is a caller without a principal, for as long as his request or stream lasts. It
// does not change, so that it may be asked for in any goroutine.
type stranger struct {
	asks        *request // a copy
	credentials upgrade.Credentials
}

func (x *request) asStranger() *stranger {
	asks := *x
	return &stranger{asks: &asks, credentials: x.Digests()}
}

func (s *stranger) mayAsk(ctx context.Context, task upgrade.Task) error {
	if s.made(task) {
		return nil
	}
	if err := s.vouch(ctx); err != nil {
		return err
	}
	if task.ID != "" && !s.asks.p.options.Tasks.MayBeCreators(&task, s.credentials) {
		return upgrade.ErrUnknown
	}
	return nil
}

// made reports whether the caller made the task, or anybody may have.
func (s *stranger) made(task upgrade.Task) bool {
	return task.ID != "" && (task.Anybodys() || s.asks.p.options.Tasks.MadeWith(&task, s.credentials))
}

// mayAskForOne reports whether the caller may ask for one of the tasks. Upstreams have their
// word only if he made none.
func (s *stranger) mayAskForOne(ctx context.Context, tasks []upgrade.Task) bool {
	return slices.ContainsFunc(tasks, s.made) ||
		slices.ContainsFunc(tasks, func(task upgrade.Task) bool { return s.mayAsk(ctx, task) == nil })
}

// vouch fails if the pool does not take the caller's credentials: as it refuses them, with
// upgrade.ErrUnknown if it does not look at any, or with fault.NoWord while it does not say.
// What is asked for in vain is one of the unknown ids that a caller may name so many of.
func (s *stranger) vouch(ctx context.Context) error {
	x, v := s.asks, s.asks.p.vouched
	key := inbound.Joined(x.PoolName(), x.Credential, x.Version(), x.Session)
	if said, ok := v.verdicts.Get(key); ok && time.Now().Before(said.until) {
		return said.err
	}
	if wait := x.p.load.unknown.Wait(x.Caller); wait > 0 {
		return x.p.load.tooMuch(shedUnknownIDs, fault.TooManyUnknown, wait)
	}
	_, err, _ := v.flights.Do(key, func() (any, error) {
		// It is asked for others, too, whose client is still there.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), vouchTime)
		defer cancel()
		err := x.inquiry(ctx, s.credentials.All != "").run(ctx)
		v.note(key, err)
		return nil, err
	})
	if err != nil && err != fault.NoWord {
		x.p.load.unknown.Take(x.Caller, 1)
	}
	return err
}

// note remembers a verdict. That nobody says anything is none.
func (v *vouched) note(key string, err error) {
	life := refusedFor
	if err == nil {
		life = vouchedFor
	}
	if err != fault.NoWord {
		v.verdicts.Add(key, verdict{err, time.Now().Add(life)})
	}
}
