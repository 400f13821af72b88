package storage

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
)

const (
	// failuresToOpen in a row open the breaker. With one operation at a time on a
	// frozen server that takes three timeouts: 0.75 s by default.
	failuresToOpen = 3

	// breakerOpen is how long nobody but the clock is asked. A fail-over takes Redis
	// two seconds or three, and this is added to it. gobreaker's own default is a
	// minute, which outlives most outages.
	breakerOpen = 500 * time.Millisecond
)

// breaker keeps operations from a server that does not answer, and feeds health.
type breaker struct {
	circuit   *gobreaker.CircuitBreaker[struct{}]
	health    *health
	allClosed func() bool // of the store's breakers
}

func newBreaker(h *health, allClosed func() bool) *breaker {
	return &breaker{
		health:    h,
		allClosed: allClosed,
		circuit: gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
			Timeout:      breakerOpen,
			ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failuresToOpen },
			IsSuccessful: answered,
			IsExcluded:   meaningless,
		}),
	}
}

// do runs f unless the breaker is open. Execute rather than the two-step breaker:
// it also counts a panic, which in the half-open state would else hold the only
// permit for ever.
func (b *breaker) do(op string, f func() error) error {
	_, err := b.circuit.Execute(func() (struct{}, error) { return struct{}{}, f() })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return &fault{op: op, reason: reasonBreakerOpen, detail: err.Error()}
	}
	if !meaningless(err) {
		b.health.report(b.allClosed, err)
	}
	return err
}

func (b *breaker) closed() bool { return b.circuit.State() == gobreaker.StateClosed }

// answered reports whether the server served, be it with "no such key".
func answered(err error) bool {
	return err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) || errors.Is(err, ErrFull)
}

// meaningless reports whether err says nothing about the server's health: the
// caller left, or this one command was refused.
func meaningless(err error) bool {
	if f, ok := errors.AsType[*fault](err); ok {
		return f.refusal
	}
	return errors.Is(err, context.Canceled)
}
