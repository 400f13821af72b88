package routing

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"berth/routing/turns"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
)

// Bounds of asking the fleet, for each pool.
const (
	askInFlight = 5               // questions under way at once
	askByCaller = 4               // questions of one caller under way at once
	askRate     = 20              // questions a second
	askPatience = 2 * time.Second // how long a question waits for its turn
	askTimeout  = 3 * time.Second // how long a question waits for its answers
	denialKept  = 5 * time.Second // how long an id that all denied is not asked for again
	denials     = 10_000          // how many of them are remembered
	countsUntil = 5 * time.Minute // an upstream that is down longer is not waited for
)

var (
	// ErrDenied says that every upstream that counts does not know the id.
	ErrDenied = errors.New("routing: the fleet does not know the id")
	// ErrUnclear says that nobody knows the id, but that not everybody could be asked.
	ErrUnclear = errors.New("routing: part of the fleet did not say")
	// ErrBusy says that too many ids are being asked for.
	ErrBusy = errors.New("routing: too many questions to the fleet")
)

// Verdict is one upstream's answer to whether it knows an id.
type Verdict struct {
	kind    kind
	refusal error // of refuses
}

type kind uint8

const (
	unclear kind = iota
	knows
	denies
	refuses
	absent // down for so long that what it held is as good as gone
	kinds  // how many there are
)

// What an upstream may answer besides Refuses.
var (
	Unclear = Verdict{}             // an error, or silence
	Knows   = Verdict{kind: knows}  // it holds the id
	Denies  = Verdict{kind: denies} // it says that it has no such id
)

// Refuses says that an upstream does not take the caller's credentials, and refusal what it
// tells the caller.
func Refuses(refusal error) Verdict { return Verdict{refuses, refusal} }

// Question asks the fleet who owns an id.
type Question struct {
	// Key is equal for questions that may share an answer: same id, same
	// credentials. Who may not see a task must not speak for who may.
	Key string
	// Caller is who asks; callers take turns.
	Caller string
	// Ask puts the question to one upstream. It is called concurrently, ends when its
	// context does, and may still be ending when Asker.Ask has returned.
	Ask func(ctx context.Context, u *Upstream) Verdict
}

// Asker asks a pool's upstreams for an id that the map does not know.
type Asker struct {
	pool    *Pool
	turns   *turns.Turns
	limiter *rate.Limiter
	flight  singleflight.Group
	denied  *lru.Cache[string, time.Time] // until when
}

// NewAsker returns the asker of a pool.
func NewAsker(pool *Pool) *Asker {
	denied, _ := lru.New[string, time.Time](denials) // fails for sizes below one only
	return &Asker{
		pool:    pool,
		turns:   turns.New(askInFlight, askByCaller),
		limiter: rate.NewLimiter(askRate, 1),
		denied:  denied,
	}
}

// Ask returns the upstream that knows the id. Callers with the same key share one
// question, which does not end with the first of them. Errors: ErrDenied,
// ErrUnclear, ErrBusy, a refusal if all who said anything refused, or ctx's.
func (a *Asker) Ask(ctx context.Context, q Question) (*Upstream, error) {
	if a.hasDenied(q.Key) {
		return nil, ErrDenied
	}
	done := a.flight.DoChan(q.Key, func() (any, error) {
		u, err := a.ask(context.WithoutCancel(ctx), q)
		if errors.Is(err, ErrDenied) {
			a.denied.Add(q.Key, time.Now().Add(denialKept))
		}
		a.pool.metrics.asked(err)
		return u, err
	})
	select {
	case r := <-done:
		return r.Val.(*Upstream), r.Err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// hasDenied reports whether the fleet has denied what is asked under this key a moment ago.
func (a *Asker) hasDenied(key string) bool {
	until, ok := a.denied.Get(key)
	return ok && time.Now().Before(until)
}

func (a *Asker) ask(ctx context.Context, q Question) (*Upstream, error) {
	if err := a.turn(ctx, q.Caller); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	upstreams := a.pool.Upstreams()
	verdicts := make(chan answered, len(upstreams)) // room for all: nobody waits for those who come late
	var asking sync.WaitGroup
	for _, u := range upstreams {
		asking.Go(func() { verdicts <- answered{u, a.verdict(ctx, u, q)} })
	}
	// The slot counts what is under way, also what is being cancelled.
	go func() {
		asking.Wait()
		a.turns.End(q.Caller)
	}()
	u, err := collect(ctx, verdicts, len(upstreams))
	if errors.Is(err, ErrDenied) && a.pool.partial.Load() {
		err = ErrUnclear
	}
	return u, err
}

type answered struct {
	upstream *Upstream
	verdict  Verdict
}

// collect waits for the one who knows, or for all.
func collect(ctx context.Context, verdicts <-chan answered, n int) (*Upstream, error) {
	var count [kinds]int
	var refusal error
	for range n {
		v := answered{}
		select {
		case v = <-verdicts:
		case <-ctx.Done(): // the others have not said anything
		}
		if v.verdict.kind == knows {
			return v.upstream, nil
		}
		count[v.verdict.kind]++
		refusal = cmp.Or(refusal, v.verdict.refusal)
	}
	return nil, sumUp(count, refusal)
}

// sumUp says what it means that nobody knows. It takes at least one denial to deny: a fleet
// that is gone altogether has not said anything.
func sumUp(count [kinds]int, refusal error) error {
	switch {
	case count[denies] == 0 && count[refuses] > 0:
		return refusal
	case count[denies] == 0, count[refuses] > 0, count[unclear] > 0:
		return ErrUnclear
	}
	return ErrDenied
}

// verdict asks one upstream, unless it is known not to answer.
func (a *Asker) verdict(ctx context.Context, u *Upstream, q Question) Verdict {
	switch {
	case u.DownFor() >= countsUntil:
		return Verdict{kind: absent}
	case u.Silent():
		return Unclear
	}
	return q.Ask(ctx, u)
}

// turn waits for a slot and for the rate, for a short while.
func (a *Asker) turn(ctx context.Context, caller string) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	if a.turns.Begin(ctx, caller) != nil {
		return ErrBusy
	}
	if a.limiter.Wait(ctx) != nil {
		a.turns.End(caller)
		return ErrBusy
	}
	return nil
}
