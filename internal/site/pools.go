package site

import (
	"time"

	"berth/routing"
	"berth/sticky"
)

// pools are those of the newest generation.
func (s *Site) pools() []*routing.Pool {
	if g := s.now.Load(); g != nil {
		return g.pools()
	}
	return nil
}

func (g *generation) pools() (pools []*routing.Pool) {
	for _, ep := range g.faces {
		pools = append(pools, ep.Router.Pool)
	}
	return pools
}

// reopens reports whether sessions of a pool are opened anew where they have lost their upstream.
func (s *Site) reopens(pool string) bool {
	for _, ep := range s.now.Load().faces {
		if ep.Router.Pool.Name() == pool {
			return ep.Reinit
		}
	}
	return false
}

const unknownOwned = -1

// ownedBy is what an upstream owns, and when the store told; below 0: nobody knows.
func ownedBy(u *routing.Upstream) (n int, counted time.Time) {
	owned, known := u.Owned()
	if !known {
		return unknownOwned, time.Time{}
	}
	return count(owned), owned.Counted
}

func count(owned sticky.Owned) int { return owned.Tasks + owned.Sessions }
