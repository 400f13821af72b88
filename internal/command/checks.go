package command

import (
	"fmt"
	"slices"
	"strings"

	"berth/internal/admin"
	"berth/routing"
)

// checks are the conditions of readiness. A store that is away, and too much load, degrade berth:
// to take it out would put its load on the others. A pool of which nobody answers makes it useless.
func (g *graph) checks() []admin.Check {
	checks := []admin.Check{{Name: "store", Probe: func() (bool, string) { return true, g.storeDegraded() }}}
	checks = append(checks, admin.Check{Name: "load", Probe: func() (bool, string) { return true, g.proxy.Shedding() }})
	for _, pool := range g.pools {
		checks = append(checks, admin.Check{Name: "pool " + pool.Name(), Probe: func() (bool, string) { return poolAnswers(pool) }})
	}
	return slices.Concat(checks, g.tlsChecks(), g.authChecks())
}

func (g *graph) storeDegraded() string {
	health := g.store.Health()
	switch {
	case health.Healthy && health.Evicts != "":
		return fmt.Sprintf("%s drops bindings when its memory is full: maxmemory-policy is %s", g.store, health.Evicts)
	case health.Healthy:
		return ""
	case health.LastError == "":
		return fmt.Sprintf("%s has not answered yet", g.store)
	}
	return fmt.Sprintf("%s is away since %s: %s", g.store, health.Since.UTC().Format("15:04:05Z"), health.LastError)
}

func poolAnswers(pool *routing.Pool) (bool, string) {
	silent := 0
	var troubled []string
	for _, u := range pool.Upstreams() {
		state, cause := u.Trouble()
		if state == "" {
			continue
		}
		troubled = append(troubled, fmt.Sprintf("%s %s (%v)", u.Name, state, cause))
		if u.Silent() {
			silent++
		}
	}
	all := len(pool.Upstreams())
	if len(troubled) == 0 {
		return true, ""
	}
	return silent < all, fmt.Sprintf("%d of %d upstreams: %s", len(troubled), all, strings.Join(troubled, ", "))
}
