// Package breaker keeps operations from a server that does not answer, and has the others wait for their turn: as many go to a
// server at a time as it has connections.
//
//	breaker.go  one for each server: what counts as a failure
//	turns.go    who goes next
package breaker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/lapse"
	"berth/internal/storage/engine"
	"berth/internal/storage/health"

	"github.com/sony/gobreaker/v2"
)

const (
	// FailuresToOpen in a row open the breaker: of a frozen server after three timeouts, 0.75 s by
	// default; with many operations at a time after two.
	FailuresToOpen = 3

	// SuccessesToClose in a row close it: a slow server, or machine, would else be lost and found
	// all the time.
	SuccessesToClose = 3

	// OpenFor is how long nobody but the clock is asked. It is added to what a fail-over takes,
	// two seconds or three.
	OpenFor = 500 * time.Millisecond
)

// Breaker keeps operations from a server that does not answer, and feeds health.
type Breaker struct {
	circuit   *gobreaker.CircuitBreaker[struct{}]
	health    *health.Monitor
	allClosed func() bool   // of the store's breakers
	Turns     *turns        // at the server, of what goes there by itself
	Aboard    *turns        // of what goes by trips
	timeout   time.Duration // for an answer
	begin     time.Time     // a moment before it was made

	answered atomic.Int64 // when the server last served, as time since begin, in nanoseconds; 0: it never did
	cuts     atomic.Int64 // failures since then that were no time-outs
}

func newBreaker(h *health.Monitor, t Traffic, allClosed func() bool) *Breaker {
	b := &Breaker{health: h, allClosed: allClosed, Turns: newTurns(t.Alone), Aboard: newTurns(t.Together), timeout: t.Timeout, begin: time.Now().Add(-1)}
	b.circuit = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests:  SuccessesToClose,
		Timeout:      OpenFor,
		ReadyToTrip:  b.down,
		IsSuccessful: engine.Answered,
		IsExcluded:   meaningless,
	})
	return b
}

// down reports whether so many failures mean that the server is down. Late answers may be this
// machine's doing: who asked last has an answer after the time for two.
func (b *Breaker) down(c gobreaker.Counts) bool {
	if c.ConsecutiveFailures < FailuresToOpen {
		return false
	}
	last := b.answered.Load()
	return b.cuts.Load() >= FailuresToOpen || last == 0 || time.Since(b.begin)-time.Duration(last) >= 2*b.timeout
}

// NotAsked is how long an operation took that no server was asked for.
const NotAsked = -1

// InTurn runs f when it has one of the turns, and returns how long f took, or NotAsked. A probe waits for nobody: what it finds is what others
// wait for.
func (b *Breaker) InTurn(ctx context.Context, turns *turns, op string, f func(ctx context.Context) error) (took time.Duration, err error) {
	if op == engine.OpPing {
		return b.ask(ctx, op, f)
	}
	if !turns.takeFree() {
		if b.circuit.State() == gobreaker.StateOpen { // nobody waits for a turn to hear that
			return NotAsked, open(op, gobreaker.ErrOpenState)
		}
		if err := turns.take(ctx, op, patience*b.timeout); err != nil {
			return NotAsked, err
		}
	}
	defer turns.give()
	return b.ask(ctx, op, f)
}

// ask runs f unless the breaker is open. Execute also counts a panic, which in the half-open state
// would else hold a permit for ever.
func (b *Breaker) ask(ctx context.Context, op string, f func(ctx context.Context) error) (took time.Duration, err error) {
	var ended time.Time
	_, err = b.circuit.Execute(func() (struct{}, error) {
		ctx, cancel := engine.Begun(ctx)
		defer cancel()
		start := time.Now()
		err := f(ctx)
		ended = lapse.Now(start)
		took = ended.Sub(start)
		return struct{}{}, b.judged(err, took, ended)
	})
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return NotAsked, open(op, err)
	}
	if !meaningless(err) {
		b.health.Report(b.allClosed, err, ended)
	}
	return took, err
}

// judged is err as the breaker is to take it. A deadline that leaves less than the time for an
// answer says nothing about the server.
func (b *Breaker) judged(err error, took time.Duration, ended time.Time) error {
	f, failed := errors.AsType[*engine.Fault](err)
	switch {
	case failed && f.Told:
	case failed && f.Deadline != nil && took < b.timeout*9/10:
		f.Refusal = true
	case failed && !f.Refusal && f.Reason != engine.ReasonTimeout:
		b.cuts.Add(1)
	case engine.Answered(err), failed && f.Refusal && f.Reason != engine.ReasonBusy: // a refusal is an answer
		b.answered.Store(int64(ended.Sub(b.begin)))
		b.cuts.Store(0)
	}
	return err
}

func open(op string, err error) error {
	return &engine.Fault{Op: op, Reason: engine.ReasonBreakerOpen, Detail: err.Error()}
}

// Closed reports whether operations go through.
func (b *Breaker) Closed() bool { return b.circuit.State() == gobreaker.StateClosed }

func meaningless(err error) bool {
	if f, ok := errors.AsType[*engine.Fault](err); ok {
		return f.Refusal || f.Told
	}
	return err == engine.ErrAshore || errors.Is(err, context.Canceled)
}

// Breakers are those of one store, one for each server, so that one that is away costs its own keys
// only. A store on a single server has one, without a name.
type Breakers struct {
	health  *health.Monitor
	traffic Traffic

	mu     sync.Mutex // guards the field below
	byPart map[string]*Breaker
}

// Traffic is what a server takes at a time.
type Traffic struct {
	Alone    int           // how many operations at a time go by themselves; at least one does
	Together int           // how many go with others
	Timeout  time.Duration // for an answer
}

// New returns breakers of servers that take t each. h hears how they fare.
func New(h *health.Monitor, t Traffic) *Breakers {
	return &Breakers{health: h, traffic: t, byPart: make(map[string]*Breaker)}
}

// Of returns the breaker of a server, which is made with the first operation.
func (b *Breakers) Of(part string) *Breaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	one, ok := b.byPart[part]
	if !ok {
		one = newBreaker(b.health, b.traffic, b.Closed)
		b.byPart[part] = one
	}
	return one
}

// Keep forgets all but these parts: a server that was replaced is no outage any more.
func (b *Breakers) Keep(parts map[string]func(context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for part := range b.byPart {
		if _, ok := parts[part]; !ok {
			delete(b.byPart, part)
		}
	}
}

// Closed reports whether all of them are.
func (b *Breakers) Closed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.byPart {
		if !one.Closed() {
			return false
		}
	}
	return true
}
