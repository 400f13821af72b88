package config

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/storage"
)

const (
	shortest = Duration(time.Millisecond)
	day      = 24 * hour
	year     = 365 * day
)

// upgrading adds to c a rule of defaults for tools, and returns it.
func upgrading(c *Config, tools ...string) *Upgrade {
	rule := DefaultUpgrade()
	rule.Tools = tools
	c.Upgrades = append(c.Upgrades, rule)
	return &c.Upgrades[len(c.Upgrades)-1]
}

// numbered returns as many names of tools.
func numbered(count int) []string {
	names := make([]string, count)
	for i := range names {
		names[i] = "tool" + strconv.Itoa(i)
	}
	return names
}

func TestValidateRefusesRules(t *testing.T) {
	second := Duration(time.Second)
	tests := []struct {
		name, key string
		change    func(*Config)
	}{
		{"no tools", "upgrade[0].tools", func(c *Config) { upgrading(c) }},
		{"too many tools", "upgrade[0].tools", func(c *Config) { upgrading(c, numbered(257)...) }},
		{"an empty glob", "upgrade[0].tools[1]", func(c *Config) { upgrading(c, "a", "") }},
		{"an empty glob behind one of every tool", "upgrade[1].tools[0]", func(c *Config) { upgrading(c, "*").Pool = "default"; upgrading(c, "").Pool = "default" }},
		{"a glob of another kind", "upgrade[0].tools[0]", func(c *Config) { upgrading(c, "gen_[ab]") }},
		{"a tool named twice", "upgrade[0].tools[2]", func(c *Config) { upgrading(c, "a", "b", "a") }},
		{"a tool named before", "upgrade[1].tools[1]", func(c *Config) { upgrading(c, "a"); upgrading(c, "b", "a") }},
		{"a tool named before for every pool", "upgrade[1].tools[0]", func(c *Config) { upgrading(c, "a"); upgrading(c, "a").Pool = "default" }},
		{"a tool named before for the pool", "upgrade[2].tools[0]", func(c *Config) {
			upgrading(c, "a").Pool = "default"
			upgrading(c, "b")
			upgrading(c, "a").Pool = "default"
		}},
		{"tools of which an earlier rule leaves none", "upgrade[1].tools[0]", func(c *Config) { upgrading(c, "gen_*"); upgrading(c, "gen_video_*") }},
		{"an unknown pool", "upgrade[0].pool", func(c *Config) { upgrading(c, "a").Pool = "video" }},
		{"no pools, but a rule for the one of flags", "pools", func(c *Config) { c.Pools = nil; upgrading(c, "a").Pool = "default" }},
		{"after", "upgrade[0].after", func(c *Config) { r := upgrading(c, "a"); r.After, r.TTL, r.Timeout = 2*hour, 5*hour, 5*hour }},
		{"after the call's end", "upgrade[0].after", func(c *Config) { r := upgrading(c, "a"); r.After, r.Timeout = 9*second, 9*second }},
		{"after the task's end", "upgrade[0].after", func(c *Config) { r := upgrading(c, "a"); r.After, r.TTL = 9*second, 8*second }},
		{"no ttl", "upgrade[0].ttl", func(c *Config) { upgrading(c, "a").TTL = 0 }},
		{"ttl", "upgrade[0].ttl", func(c *Config) { upgrading(c, "a").TTL = 2 * year }},
		{"ttl beyond the store's", "upgrade[0].ttl", func(c *Config) { upgrading(c, "a").TTL = 8 * day }},
		{"poll interval", "upgrade[0].poll_interval", func(c *Config) { upgrading(c, "a").PollInterval = 0 }},
		{"grace", "upgrade[0].refusal_grace", func(c *Config) { upgrading(c, "a").RefusalGrace = 11 * second }},
		{"grace after the call's end", "upgrade[0].refusal_grace", func(c *Config) { r := upgrading(c, "a"); r.RefusalGrace, r.Timeout = 2*second, 2*second }},
		{"a poll after the end", "upgrade[0].poll_interval", func(c *Config) { r := upgrading(c, "a"); r.TTL, r.PollInterval = 5*second, 6*second }},
		{"timeout", "upgrade[0].timeout", func(c *Config) { upgrading(c, "a").Timeout = 0 }},
		{"timeout beyond the ttl", "upgrade[0].timeout", func(c *Config) { upgrading(c, "a").Timeout = 3 * hour }},
		{"max result", "upgrade[0].max_result", func(c *Config) { upgrading(c, "a").MaxResult = 0 }},
		// The tool would have run, and the store not take what it returned.
		{"no room for a call", "limits.kept_per_caller", func(c *Config) { upgrading(c, "a"); c.Limits.KeptPerCaller = 2*c.Limits.Body - 1 }},
		{"bodies that no store keeps", "limits.body", func(c *Config) { upgrading(c, "a"); c.Limits.Body = storage.MaxBlob }},
		{"max result that no store keeps", "upgrade[0].max_result", func(c *Config) { upgrading(c, "a").MaxResult = storage.MaxBlob + 1 }},
		{"concurrency", "upgrade[0].concurrency", func(c *Config) { upgrading(c, "a").Concurrency = -1 }},
		{"on orphan", "upgrade[0].on_orphan", func(c *Config) { upgrading(c, "a").OnOrphan = "retry" }},
		{"on store down", "upgrade[0].on_store_down", func(c *Config) { upgrading(c, "a").OnStoreDown = "fail" }},
		{"live per principal", "upgrade[0].live_per_principal", func(c *Config) { upgrading(c, "a").LivePerPrincipal = 0 }},
		{"live per process", "upgrade[0].live_per_process", func(c *Config) { upgrading(c, "a").LivePerProcess = 0 }},
		{"too many rules", "upgrade", func(c *Config) { c.Upgrades = make([]Upgrade, 65) }},
		{"a lease too short", "store.holder_lease", func(c *Config) { c.Store.HolderLease = 499 * shortest }},
		{"a lease too long", "store.holder_lease", func(c *Config) { c.Store.HolderLease = 6 * hour / 60 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := exampleConfig()
			tt.change(&cfg)
			faults := cfg.Validate()
			if len(faults) != 1 || faults[0].Key != tt.key {
				t.Errorf("got %v, want one fault of %s", faults, tt.key)
			}
		})
	}
}

func TestValidateAcceptsRules(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
	}{
		{"defaults", func(c *Config) { upgrading(c, "generate_*", "slow_compute") }},
		{"for a pool", func(c *Config) { upgrading(c, "a").Pool = "default" }},
		{"for a pool, then for every pool", func(c *Config) { upgrading(c, "a").Pool = "default"; upgrading(c, "a") }},
		{"the same tools in two pools", func(c *Config) {
			p := twin(c)
			p.Name, p.Path = "other", "/other"
			upgrading(c, "*").Pool = "default"
			upgrading(c, "*").Pool = "other"
		}},
		{"the exception before the rule", func(c *Config) { upgrading(c, "gen_video"); upgrading(c, "gen_*") }},
		{"a window", func(c *Config) { upgrading(c, "a").After = Duration(5 * time.Second) }},
		{"a ttl shorter than the default timeout", func(c *Config) { upgrading(c, "a").TTL = Duration(time.Minute) }},
		{"required, and sync all the same", func(c *Config) { r := upgrading(c, "a"); r.Required, r.OnStoreDown = true, "sync" }},
		{"rerun", func(c *Config) { upgrading(c, "a").OnOrphan = "rerun" }},
		{"a short lease", func(c *Config) { c.Store.HolderLease = 500 * shortest }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := exampleConfig()
			tt.change(&cfg)
			if faults := cfg.Validate(); len(faults) != 0 {
				t.Errorf("got %v, want none", faults)
			}
		})
	}
}

func TestParseReportsFaultsOfRulesWithTheirLines(t *testing.T) {
	const file = minimal + `
[[upgrade]] # line 5
pool = "defualt"
tools = [
  "gen_*",
  "slow",
  "",
]
ttl = "10m"
on_orphan = "ignore"

[[upgrade]] # line 15
tools = ["a"]
timeout = 30

[[upgrade]] # line 19
tols = ["b"]

[[upgrade]]
tools = ["c", "a"]
`
	want := strings.TrimSpace(`
c.toml:6: upgrade[0].pool: must be the name of a pool, got "defualt"
c.toml:10: upgrade[0].tools[2]: must not be empty, got ""
c.toml:13: upgrade[0].on_orphan: must be one of fail, rerun, got "ignore"
c.toml:17: upgrade[1].timeout: must be a string, got an integer
c.toml:19: upgrade[2].tools: there must be at least one
c.toml:20: upgrade[2].tols: unknown key, did you mean tools?
c.toml:23: upgrade[3].tools[1]: never counts: upgrade[1].tools[0], "a", comes first`)
	_, err := Parse("c.toml", []byte(file))
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestParseStartsEachRuleFromTheDefaultRule(t *testing.T) {
	cfg, err := Parse("c.toml", []byte(minimal+"[[upgrade]]\ntools = [\"a\"]\nrequired = true\n[[upgrade]]\ntools = [\"b\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var want Config
	upgrading(&want, "a").Required = true
	upgrading(&want, "b")
	if !reflect.DeepEqual(cfg.Upgrades, want.Upgrades) {
		t.Errorf("got %+v, want %+v", cfg.Upgrades, want.Upgrades)
	}
}

// The pool that flags make is named "default"; what a rule says of another is the file's
// fault.
func TestRulesAloneAreJudgedWithThePoolOfFlags(t *testing.T) {
	byFlags := func(c *Config) { c.Pools = exampleConfig().Pools }
	if _, err := Parse("c.toml", []byte("[[upgrade]]\ntools = [\"a\"]\npool = \"default\"\n"), byFlags); err != nil {
		t.Error(err)
	}
	_, err := Parse("c.toml", []byte("[[upgrade]]\ntools = [\"a\"]\npool = \"video\"\n"), byFlags)
	if want := `c.toml:3: upgrade[0].pool: must be the name of a pool, got "video"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWhatARuleLeavesOpenFollowsFromTheRest(t *testing.T) {
	for _, tt := range []struct {
		required    bool
		given, want string
	}{
		{false, "", "sync"},
		{true, "", "refuse"},
		{true, "sync", "sync"},
		{false, "refuse", "refuse"},
	} {
		rule := Upgrade{Required: tt.required, OnStoreDown: tt.given}
		if got := rule.EffectiveOnStoreDown(); got != tt.want {
			t.Errorf("required %v, %q: got %s, want %s", tt.required, tt.given, got, tt.want)
		}
	}
	rule := DefaultUpgrade()
	if got := rule.EffectiveTimeout(); got != hour {
		t.Errorf("got timeout %v, want %v", got, hour)
	}
	rule.TTL = hour / 60
	if got := rule.EffectiveTimeout(); got != rule.TTL {
		t.Errorf("got timeout %v, want the ttl, %v", got, rule.TTL)
	}
}
