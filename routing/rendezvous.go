package routing

import (
	"math"

	"github.com/cespare/xxhash/v2"
)

// Rendezvous takes the same candidate for the same key (highest random weight), by share. Where
// one joins or leaves, only its own keys move. All berths choose alike, since only names and
// shares count. Work without a key goes as by TwoChoices.
type Rendezvous struct{}

// Pick implements Picker.
func (Rendezvous) Pick(c Choice) *Upstream {
	if c.Key == "" {
		return TwoChoices{}.Pick(c)
	}
	var best *Upstream
	highest := 0.0
	for _, u := range c.Among {
		score := meeting(c.Key, u.Name)
		if !c.Even {
			// The logarithm has shares be those of the keys, and a share that changes move as
			// few as can be.
			score = -c.Share(u) / math.Log(score)
		}
		if best == nil || score > highest || score == highest && u.Name < best.Name {
			best, highest = u, score
		}
	}
	return best
}

// meeting is a number in (0, 1) that key and name make.
func meeting(key, name string) float64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString(key)
	_, _ = d.WriteString("\x00")
	_, _ = d.WriteString(name)
	return (float64(d.Sum64()>>11) + 0.5) / (1 << 53)
}
