package config

import (
	"reflect"
	"slices"
	"strings"

	"berth/internal/storage"
	"berth/upgrade"
)

const (
	maxUpgrades = 64 // as maxTools, bounds what each call of a tool is compared with
	maxTools    = 256
	maxCall     = storage.MaxBlob - MiB // that of a call's body: it is stored as one blob together with its headers
)

func (v *validator) upgrades(c *Config) {
	if len(c.Upgrades) > maxUpgrades {
		v.fault("upgrade", "there must be at most %d, got %d", maxUpgrades, len(c.Upgrades))
		return
	}
	if len(c.Upgrades) == 0 {
		return
	}
	v.faultIf(c.Limits.Body > maxCall, "limits.body", "must be at most %v where there are rules: calls are stored, got %v", maxCall, c.Limits.Body)
	if least := 2 * c.Limits.Body; c.Limits.KeptPerCaller < least {
		v.fault("limits.kept_per_caller", "must be at least twice limits.body where there are rules (%v), got %v", least, c.Limits.KeptPerCaller)
	}
	var earlier []namedTools
	for i, rule := range c.Upgrades {
		key := elementKey("upgrade", i)
		v.bounds(key, reflect.ValueOf(rule))
		v.tools(key+".tools", rule.Tools)
		v.faultIf(rule.Pool != "" && !slices.Contains(poolNames(c), rule.Pool), key+".pool", "must be the name of a pool, got %s", quote(rule.Pool))
		v.terms(key, rule, c.Store.MaxTTL)
		v.oneOf(key+".on_store_down", rule.EffectiveOnStoreDown(), string(upgrade.StoreSync), string(upgrade.StoreRefuse))
		earlier = v.reached(key+".tools", rule, earlier)
	}
	v.webhooks(c)
}

// poolNames are those that a rule may give. A file may leave the pools to the flags.
func poolNames(c *Config) []string {
	if len(c.Pools) == 0 {
		return []string{DefaultPool().Name}
	}
	names := make([]string, len(c.Pools))
	for i, p := range c.Pools {
		names[i] = p.Name
	}
	return names
}

func (v *validator) tools(key string, tools []string) {
	v.faultIf(len(tools) == 0, key, "there must be at least one")
	v.faultIf(len(tools) > maxTools, key, "must name at most %d, got %d", maxTools, len(tools))
	for i, glob := range tools {
		if err := upgrade.Glob(glob).Check(); err != nil {
			v.fault(elementKey(key, i), "%v, got %s", err, quote(glob))
		}
	}
}

var times = []string{"after", "refusal_grace", "ttl", "max_ttl", "poll_interval", "timeout"}

// terms judges the times of a rule, if each is good by itself, against those that they cannot
// outlast.
func (v *validator) terms(key string, rule Upgrade, maxTTL Duration) {
	bad := func(f Fault) bool { return slices.Contains(times, strings.TrimPrefix(f.Key, key+".")) }
	if slices.ContainsFunc(v.faults, bad) {
		return
	}
	v.faultIf(rule.TTL > maxTTL, key+".ttl", "must be at most store.max_ttl (%v), got %v", maxTTL, rule.TTL)
	if rule.MaxTTL > maxTTL && rule.MaxTTL != DefaultUpgrade().MaxTTL {
		v.fault(key+".max_ttl", "must be at most store.max_ttl (%v), got %v", maxTTL, rule.MaxTTL)
	}
	v.faultIf(rule.PollInterval > rule.TTL, key+".poll_interval", "must be at most ttl (%v), got %v", rule.TTL, rule.PollInterval)
	// The default gives way to a shorter ttl: who shortens that need not say both.
	if rule.Timeout > rule.TTL && rule.Timeout != DefaultUpgrade().Timeout {
		v.fault(key+".timeout", "must be at most ttl (%v), with which the call ends, got %v", rule.TTL, rule.Timeout)
	}
	if end := rule.EffectiveTimeout(); rule.After >= end {
		v.fault(key+".after", "must be less than timeout and ttl (%v), or no call becomes a task, got %v", end, rule.After)
	} else if rule.RefusalGrace >= end && rule.RefusalGrace != DefaultUpgrade().RefusalGrace {
		v.fault(key+".refusal_grace", "must be less than timeout and ttl (%v), got %v", end, rule.RefusalGrace)
	}
}

type namedTools struct {
	key  string
	pool string
	glob upgrade.Glob
}

// reached reports globs of rule that can never count, and returns the earlier ones together with
// its own.
func (v *validator) reached(key string, rule Upgrade, earlier []namedTools) []namedTools {
	if len(rule.Tools) > maxTools {
		return earlier
	}
	all := earlier
	for i, tools := range rule.Tools {
		glob, at := upgrade.Glob(tools), elementKey(key, i)
		if glob.Check() != nil {
			continue // Reported already.
		}
		first := slices.IndexFunc(earlier, func(e namedTools) bool {
			return (e.pool == "" || e.pool == rule.Pool) && e.glob.Covers(glob)
		})
		if first >= 0 {
			v.fault(at, "never counts: %s, %s, comes first", earlier[first].key, quote(string(earlier[first].glob)))
		} else if twice := slices.Index(rule.Tools[:i], tools); twice >= 0 {
			v.fault(at, "is %s already", elementKey(key, twice))
		}
		all = append(all, namedTools{key: at, pool: rule.Pool, glob: glob})
	}
	return all
}
