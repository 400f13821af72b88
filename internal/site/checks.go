package site

import (
	"fmt"
	"slices"
	"strings"

	"berth/internal/admin"
	"berth/internal/storage"
	"berth/routing"
	"berth/routing/health"
)

// Checks are the conditions of readiness. A store that is away, and too much load, degrade berth:
// to take it out would put its load on the others. A pool of which nobody answers makes it useless.
func (s *Site) Checks() []admin.Check {
	now := s.now.Load()
	checks := []admin.Check{{Name: "store", Probe: func() (bool, string) { return true, storeDegraded(s.store) }}}
	checks = append(checks, admin.Check{Name: "load", Probe: func() (bool, string) { return true, s.Proxy().Shedding() }})
	for _, ep := range now.faces {
		pool := ep.Router.Pool
		checks = append(checks, admin.Check{Name: "pool " + pool.Name(), Probe: func() (bool, string) { return poolAnswers(pool) }})
	}
	return slices.Concat(checks, now.discoverChecks(), tlsChecks(s), now.authChecks())
}

func storeDegraded(store *storage.Store) string {
	health := store.Health()
	switch {
	case health.Healthy && health.Evicts != "":
		return fmt.Sprintf("%s drops bindings when its memory is full: maxmemory-policy is %s", store, health.Evicts)
	case health.Healthy:
		return ""
	case health.LastError == "":
		return fmt.Sprintf("%s has not answered yet", store)
	}
	return fmt.Sprintf("%s is away since %s: %s", store, health.Since.UTC().Format("15:04:05Z"), health.LastError)
}

func poolAnswers(pool *routing.Pool) (bool, string) {
	down := 0
	var troubled []string
	for _, u := range pool.Upstreams() {
		state := u.State()
		if state.Name == health.StateOK {
			continue
		}
		troubled = append(troubled, u.Name+" "+state.String())
		if state.IsDown() {
			down++
		}
	}
	all := len(pool.Upstreams())
	var details []string
	if len(troubled) > 0 {
		details = append(details, fmt.Sprintf("%d of %d upstreams: %s", len(troubled), all, strings.Join(troubled, ", ")))
	}
	if all > 0 && !pool.TakesWork() {
		details = append(details, "none takes new work, as all drain")
	}
	return down < all || all == 0, strings.Join(details, "; ")
}
