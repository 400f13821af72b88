package bulletin

import (
	"berth/internal/api"
	"berth/routing"
)

// mostSights bounds what one bulletin tells: about 100 bytes each.
const mostSights = 2000

// Sights are how a process sees the upstreams of its pools.
func Sights(pools []*routing.Pool) []api.Sight {
	var sights []api.Sight
	for _, pool := range pools {
		for _, u := range pool.Upstreams() {
			if len(sights) < mostSights {
				sights = append(sights, SightOf(pool.Name(), u))
			}
		}
	}
	return sights
}

// SightOf is how this process sees an upstream of a pool.
func SightOf(pool string, u *routing.Upstream) api.Sight {
	state := u.State()
	s := api.Sight{Pool: pool, Upstream: u.Name, State: state.Name, InFlight: u.InFlight()}
	if state.Cause != nil {
		s.Reason = state.Cause.Error()
	}
	if !state.Since.IsZero() {
		s.Since = state.Since.UTC()
	}
	return s
}
