package adminapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"berth/internal/api"
	"berth/internal/bulletin"
	"berth/internal/storage"
	"berth/internal/trouble"
)

func (f *fleet) serveStatus(ctx context.Context, _ *http.Request) (any, error) {
	v, err := f.look(ctx)
	if err != nil {
		return nil, err
	}
	told := api.Status{
		Now: time.Now().UTC(), Berth: v.berths[0], Store: storeOf(f.store), Pools: f.tellPools(v),
		Berths: withoutSights(v.berths), Troubles: sum(v.berths), Partial: v.partial,
	}
	told.Berth.Sees = nil // the same stands with the upstreams
	told.Ready, told.NotReady = f.ready()
	tally, missing := f.tally(ctx)
	told.Tasks, told.Partial = tally, cmp.Or(told.Partial, missing)
	return told, nil
}

// tally counts tasks, as far as that can be done in time; missing is as tasks.count has it.
func (f *fleet) tally(ctx context.Context) (tally api.Tally, missing string) {
	if f.count != nil {
		limit, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		tally, missing = f.count(limit)
	}
	if tally.ByState == nil {
		tally.ByState = map[string]int{}
	}
	if tally.Oldest == nil {
		tally.Oldest = map[string]api.Age{}
	}
	return tally, missing
}

func (f *fleet) serveBerths(ctx context.Context, _ *http.Request) (any, error) {
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	berths, err := f.board.All(limit)
	told := api.Berths{Berths: berths}
	if err != nil {
		told.Partial = f.outages.partial(err)
	}
	return told, nil
}

func withoutSights(berths []api.Berth) []api.Berth {
	all := slices.Clone(berths)
	for i := range all {
		all[i].Sees = nil
	}
	return all
}

// sum adds up what berths have to tell. What was recent for one that fell silent, or is gone, is so as long as the last of it is.
func sum(berths []api.Berth) []api.Trouble {
	total := slices.Clone(berths[0].Troubles)
	for _, berth := range berths[1:] {
		tells := berth.State == bulletin.Serving || berth.State == bulletin.Draining
		for _, one := range berth.Troubles {
			at := slices.IndexFunc(total, func(t api.Trouble) bool { return t.Kind == one.Kind })
			if at < 0 {
				continue
			}
			total[at].Count += one.Count
			if tells || time.Since(one.Last) < trouble.Recently {
				total[at].Recent += one.Recent
			}
			if one.Last.After(total[at].Last) {
				total[at].Last = one.Last
			}
		}
	}
	return total
}

func storeOf(store *storage.Store) api.Store {
	health, told := store.Health(), api.Store{Kind: "memory"}
	switch {
	case store.Shared():
		told.Kind, told.Address = "redis", store.String()
	case store.Durable():
		told.Kind, told.Address = "file", store.String()
	}
	told.Available, told.Since, told.Reason = health.Healthy, health.Since.UTC(), reasonOf(health.LastError)
	if r := health.Refuses; r.Reason != "" {
		told.NoWrites, told.NoWritesSince = string(r.Reason), r.Since.UTC()
	}
	return told
}
