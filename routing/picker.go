package routing

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
)

// Picker chooses one of several upstreams for unbound work. candidates is never
// empty, and not to be changed. Implementations are safe for concurrent use.
type Picker interface {
	Pick(candidates []*Upstream) *Upstream
}

// NewPicker returns the picker with this name: "p2c" (or ""), or "round-robin".
func NewPicker(name string) (Picker, error) {
	switch name {
	case "p2c", "":
		return TwoChoices{}, nil
	case "round-robin":
		return new(RoundRobin), nil
	}
	return nil, fmt.Errorf("routing: no picker %q", name)
}

// TwoChoices takes the less busy of two random candidates (power of two choices
// on requests in flight). It needs no shared counter and does not herd: the
// busiest upstream is never chosen unless it is drawn twice.
type TwoChoices struct{}

// Pick implements Picker.
func (TwoChoices) Pick(candidates []*Upstream) *Upstream {
	n := len(candidates)
	if n == 1 {
		return candidates[0]
	}
	i := rand.IntN(n)
	j := rand.IntN(n - 1)
	if j >= i {
		j++
	}
	a, b := candidates[i], candidates[j]
	if b.InFlight() < a.InFlight() {
		return b
	}
	return a
}

// RoundRobin takes the candidates in turn.
type RoundRobin struct{ next atomic.Uint64 }

// Pick implements Picker.
func (r *RoundRobin) Pick(candidates []*Upstream) *Upstream {
	return candidates[(r.next.Add(1)-1)%uint64(len(candidates))]
}
