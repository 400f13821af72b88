package routing

import "math/rand/v2"

// TwoChoices takes the less busy of two random candidates (power of two choices on load by
// share). It needs no shared counter and does not herd: the busiest upstream is never chosen
// unless there is no other.
type TwoChoices struct{}

// Pick implements Picker.
func (TwoChoices) Pick(c Choice) *Upstream {
	n := len(c.Among)
	switch {
	case n == 1:
		return c.Among[0]
	case !c.Even:
		a := c.draw(nil)
		b := c.draw(a)
		if c.perShare(b) < c.perShare(a) {
			return b
		}
		return a
	}
	i := rand.IntN(n)
	j := rand.IntN(n - 1)
	if j >= i {
		j++
	}
	a, b := c.Among[i], c.Among[j]
	if c.Load(b) < c.Load(a) {
		return b
	}
	return a
}

// perShare is an upstream's load, by how much it is to have.
func (c Choice) perShare(u *Upstream) float64 { return float64(c.Load(u)) / c.Share(u) }

// LeastLoad takes the least busy of all candidates, by share; of several equally busy ones one
// by chance. Berths that do not know of each other's requests may choose the same one.
type LeastLoad struct{}

// Pick implements Picker.
func (LeastLoad) Pick(c Choice) *Upstream {
	var least *Upstream
	lowest, total := 0.0, 0.0
	for _, u := range c.Among {
		share := 1.0
		if !c.Even {
			share = c.Share(u)
		}
		load := float64(c.Load(u)) / share
		switch {
		case least == nil || load < lowest:
			least, lowest, total = u, load, share
		case load == lowest:
			if total += share; rand.Float64()*total < share {
				least = u
			}
		}
	}
	return least
}

// Random takes any candidate, by share, whatever it has to do.
type Random struct{}

// Pick implements Picker.
func (Random) Pick(c Choice) *Upstream {
	if c.Even {
		return c.Among[rand.IntN(len(c.Among))]
	}
	return c.draw(nil)
}
