package site

import (
	"context"
	"fmt"
	"time"

	"berth/internal/config"
	"berth/internal/limit"
	"berth/internal/parts"
	"berth/internal/storage"
	"berth/proxy/inbound"
	"berth/upgrade"
)

// newRates returns the rules about tools of a pool. What a rule has counted in this process outlives
// a reading of the configuration that leaves its rate alone.
func (g *generation) newRates(pool string) (rules []inbound.RateRule, err error) {
	for _, cfg := range g.cfg.Limits.Rate {
		if cfg.Pool != "" && cfg.Pool != pool {
			continue
		}
		key := fmt.Sprintf("rate %s %v %d", cfg.EffectiveName(), cfg.Rate, cfg.EffectiveBurst())
		shared, err := share(g, key, func() (*limit.Shared, parts.Life, error) {
			return limit.NewShared(cfg.EffectiveName(), cfg.Rate.PerSecond(), cfg.EffectiveBurst(), g.rateStore(cfg)), parts.Life{}, nil
		})
		if err != nil {
			return nil, err
		}
		rule := inbound.RateRule{Limit: shared, Per: inbound.Per(cfg.Per)}
		for _, tool := range cfg.Tools {
			rule.Tools = append(rule.Tools, upgrade.Glob(tool))
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// rateStore is where berths share a rate; nil: they do not.
func (g *generation) rateStore(cfg config.RateLimit) limit.RateStore {
	if g.site.store == nil || !g.site.store.Shared() {
		return nil
	}
	return rateStore{g.site.store, storage.Rate{Count: cfg.Rate.Count, Period: time.Duration(cfg.Rate.Period), Burst: cfg.EffectiveBurst()}}
}

type rateStore struct {
	store *storage.Store
	rate  storage.Rate
}

// Take implements limit.RateStore.
func (r rateStore) Take(ctx context.Context, key string, n int) (time.Duration, error) {
	return r.store.TakeRate(ctx, key, r.rate, n)
}

// Wait implements limit.RateStore.
func (r rateStore) Wait(ctx context.Context, key string, n int) (time.Duration, error) {
	return r.store.RateWait(ctx, key, r.rate, n)
}
