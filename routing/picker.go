package routing

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Picker chooses one of several upstreams for unbound work. Implementations are safe for
// concurrent use.
type Picker interface {
	Pick(c Choice) *Upstream
}

// Choice is what a Picker chooses from, and what it may go by.
type Choice struct {
	Among []*Upstream // never empty, and not to be changed
	Key   string      // of the work: equal ones belong together; "": none
	Even  bool        // all shares are 1

	slow  time.Duration // a slow start's; 0: there is none
	tasks bool          // live tasks are load, as requests in flight are
}

// Share is how much of the work an upstream is to have, against others: its weight, and less
// while it starts slowly.
func (c Choice) Share(u *Upstream) float64 {
	share := float64(max(u.Weight, 1))
	if c.slow > 0 {
		share *= u.warmth(c.slow)
	}
	return share
}

// Load is how much an upstream has to do.
func (c Choice) Load(u *Upstream) int {
	if !c.tasks {
		return u.InFlight()
	}
	return u.InFlight() + u.Tasks()
}

// draw returns a candidate but for except, by chance and share.
func (c Choice) draw(except *Upstream) *Upstream {
	var drawn *Upstream
	total := 0.0
	for _, u := range c.Among {
		if u == except {
			continue
		}
		share := c.Share(u)
		total += share
		if drawn == nil || rand.Float64()*total < share {
			drawn = u
		}
	}
	return drawn
}

// Names of pickers.
const (
	NameTwoChoices = "p2c"
	NameLeastLoad  = "least-load"
	NameRoundRobin = "round-robin"
	NameRandom     = "random"
	NameRendezvous = "rendezvous"
)

// NewPicker returns the picker with this name; "" is TwoChoices.
func NewPicker(name string) (Picker, error) {
	switch name {
	case NameTwoChoices, "":
		return TwoChoices{}, nil
	case NameLeastLoad:
		return LeastLoad{}, nil
	case NameRoundRobin:
		return new(RoundRobin), nil
	case NameRandom:
		return Random{}, nil
	case NameRendezvous:
		return Rendezvous{}, nil
	}
	return nil, fmt.Errorf("routing: no picker %q", name)
}
