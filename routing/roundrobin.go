package routing

import (
	"sync"
	"sync/atomic"
)

// RoundRobin takes the candidates in turn, those with a larger share more often and not one
// after the other (smooth weighted round robin, as nginx does it).
type RoundRobin struct {
	next atomic.Uint64 // of even shares

	mu     sync.Mutex         // guards the field below
	credit map[string]float64 // by name: what an upstream is owed, in shares
}

// Pick implements Picker.
func (r *RoundRobin) Pick(c Choice) *Upstream {
	if c.Even {
		return c.Among[(r.next.Add(1)-1)%uint64(len(c.Among))]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.credit == nil || len(r.credit) > maxCredits+2*len(c.Among) {
		r.credit = map[string]float64{} // most have left
	}
	var most *Upstream
	total := 0.0
	for _, u := range c.Among {
		share := c.Share(u)
		total += share
		r.credit[u.Name] += share
		if most == nil || r.credit[u.Name] > r.credit[most.Name] {
			most = u
		}
	}
	r.credit[most.Name] -= total
	return most
}

// maxCredits is how many upstreams that are no candidates may be remembered, and more in a
// large pool.
const maxCredits = 64
