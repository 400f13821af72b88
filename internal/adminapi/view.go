package adminapi

import (
	"context"
	"sync"

	"berth/internal/api"
	"berth/internal/bulletin"
	"berth/internal/mcp"
	"berth/proxy/resident"
	"berth/routing"
	"berth/routing/health"
	"berth/routing/profile"
)

// view is the fleet at one time.
type view struct {
	berths  []api.Berth
	may     []api.MayStop // of each upstream
	seen    map[place][]api.SeenBy
	partial string // what could not be read; "": all was
}

// place is an upstream of a pool.
type place struct{ pool, upstream string }

// look asks all berths and the store, for as long as patience lasts.
func (f *fleet) look(ctx context.Context) (v view, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var berths error
	var asking sync.WaitGroup
	asking.Go(func() { v.berths, berths = f.board.All(ctx) })
	asking.Go(func() { v.may, err = f.drains.All(ctx) })
	asking.Wait()
	if isAway(err) {
		v.may, berths, err = f.drains.Known(), err, nil
	}
	if berths != nil {
		v.partial = f.outages.partial(berths)
	} else if v.partial = f.outages.unwritten(); v.partial != "" {
		for i := range v.may {
			v.may[i].Drained = false // by what is not known
		}
	}
	v.seen = seenBy(v.berths)
	return v, err
}

// upstreams are those of all pools, or of one.
func (v *view) upstreams(pools []*routing.Pool, of string) []api.Upstream {
	all := []api.Upstream{}
	for _, pool := range pools {
		if of != "" && of != pool.Name() {
			continue
		}
		for _, may := range v.may {
			if may.Pool != pool.Name() {
				continue
			}
			if u := pool.Find(may.Name); u != nil { // else it has left meanwhile
				all = append(all, upstream(pool, u, may, v.seen[place{may.Pool, may.Name}]))
			}
		}
	}
	return all
}

// upstream tells of u what this process knows, and what the berths say.
func upstream(pool *routing.Pool, u *routing.Upstream, may api.MayStop, seen []api.SeenBy) api.Upstream {
	own, profile := bulletin.SightOf(pool.Name(), u), u.Profile()
	told := api.Upstream{
		MayStop: may, State: own.State, Reason: own.Reason, Since: own.Since, SeenBy: append([]api.SeenBy{}, seen...),
		Transport: transport(u), Era: era(u), Versions: versions(profile), Server: profile.Server, Weight: max(u.Weight, 1), Backup: u.Backup,
		InFlight: own.InFlight, MaxFlight: u.MaxInFlight, Check: check(u.State().Check),
	}
	if told.MaxFlight == 0 {
		told.MaxFlight = pool.Settings().MaxInFlight
	}
	for _, one := range seen {
		told.Disagree = told.Disagree || one.State != seen[0].State
	}
	return told
}

// seenBy is how the berths that are alive see each upstream.
func seenBy(berths []api.Berth) map[place][]api.SeenBy {
	all := map[place][]api.SeenBy{}
	for _, berth := range berths {
		if berth.State != bulletin.Serving && berth.State != bulletin.Draining {
			continue
		}
		for _, s := range berth.Sees {
			at := place{s.Pool, s.Upstream}
			all[at] = append(all[at], api.SeenBy{Berth: berth.Name, State: s.State, Reason: s.Reason, Since: s.Since})
		}
	}
	return all
}

func transport(u *routing.Upstream) string {
	switch {
	case u.URL.Scheme == resident.SchemeStdio:
		return "stdio"
	case resident.Is(u.URL):
		return "sse"
	}
	return "http"
}

// era is what u speaks; of both, the modern one.
func era(u *routing.Upstream) string {
	switch modern, known := u.SpeaksModern(); {
	case modern:
		return "modern"
	case known, u.Profile().Speaks[mcp.EraLegacy]:
		return "legacy"
	}
	return ""
}

// versions are those of all eras, each once.
func versions(p *profile.Profile) []string {
	all, seen := []string{}, map[string]bool{}
	for _, era := range []mcp.Era{mcp.EraModern, mcp.EraLegacy} {
		for _, version := range p.Versions[era] {
			if !seen[version] {
				seen[version] = true
				all = append(all, version)
			}
		}
	}
	return all
}

// check is the last one; nil: there was none.
func check(r health.CheckResult) *api.Check {
	if r.At.IsZero() {
		return nil
	}
	c := &api.Check{At: r.At.UTC(), Passed: r.Error == nil, Took: r.Took.Seconds()}
	if r.Error != nil {
		c.Reason = r.Error.Error()
	}
	return c
}
