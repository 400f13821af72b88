package config

import (
	"time"

	"berth/upgrade"
)

// Upgrade is one [[upgrade]] table: tools whose calls become tasks, and on what terms.
// Of several the first that names a tool counts.
type Upgrade struct {
	// Tools are globs over the names of tools, as [upgrade.Glob] reads them; at least one.
	Tools []string `toml:"tools"`
	// Pool is the name of the pool that the rule is for. Empty: every pool.
	Pool string `toml:"pool"`
	// After is how long a call's answer is waited for before its client is given a task.
	// Zero: the client gets the task at once, as one that asked for it (2025-11-25) or names
	// its call does in any case; but for RefusalGrace.
	After Duration `toml:"after"`
	// RefusalGrace is how long the upstream has to refuse a call before its client is given
	// the task: a refusal within it is the answer, and leaves no task. Zero: none.
	RefusalGrace Duration `toml:"refusal_grace"`
	// Required refuses calls of clients that take no task for them: those that do not
	// declare the Tasks extension or, of 2025-11-25, do not ask for a task.
	Required bool `toml:"required"`
	// TTL is how long a task lives from its creation; at most [Store.MaxTTL].
	TTL Duration `toml:"ttl"`
	// MaxTTL is the longest life that a client may ask for, of the era in which clients may
	// ask (2025-11-25); at most [Store.MaxTTL]. Less than TTL: TTL.
	MaxTTL Duration `toml:"max_ttl"`
	// PollInterval is what clients are told to wait between two polls.
	PollInterval Duration `toml:"poll_interval"`
	// Timeout bounds one held call; see [Upgrade.EffectiveTimeout].
	Timeout Duration `toml:"timeout"`
	// MaxResult is the largest answer of a held call that is kept, in bytes.
	MaxResult Size `toml:"max_result"`
	// Concurrency is how many held calls one upstream is given at once; the others
	// queue. Zero: any number.
	Concurrency int `toml:"concurrency"`
	// OnOrphan is what becomes of a task whose berth died after the call was sent: "fail",
	// or "rerun", which may run the tool twice.
	OnOrphan string `toml:"on_orphan"`
	// OnStoreDown is what becomes of a call whose task cannot be recorded: "sync", it
	// stays a plain one, or "refuse". Empty: see [Upgrade.EffectiveOnStoreDown]. Calls of
	// clients that asked for a task are refused in any case.
	OnStoreDown string `toml:"on_store_down"`
	// LivePerPrincipal is how many tasks that have not ended, by whatever rule, a principal
	// may have in a pool for this rule to make another; it does not count where there are
	// no principals.
	LivePerPrincipal int `toml:"live_per_principal"`
	// LivePerProcess is how many calls, by whatever rule, one berth may hold for this rule
	// to make another task. One caller may have half of them.
	LivePerProcess int `toml:"live_per_process"`
}

// DefaultUpgrade returns the rule that an [[upgrade]] table without keys makes. It names
// no tools.
func DefaultUpgrade() Upgrade {
	return Upgrade{
		RefusalGrace:     Duration(100 * time.Millisecond),
		TTL:              hour,
		MaxTTL:           24 * hour,
		PollInterval:     Duration(time.Second),
		Timeout:          hour,
		MaxResult:        8 * MiB,
		OnOrphan:         string(upgrade.OrphanFail),
		LivePerPrincipal: 100,
		LivePerProcess:   10_000,
	}
}

// EffectiveMaxTTL returns MaxTTL, or storeMax, which is [Store.MaxTTL], where that is
// shorter.
func (u *Upgrade) EffectiveMaxTTL(storeMax Duration) Duration { return min(u.MaxTTL, storeMax) }

// EffectiveTimeout returns Timeout, or TTL where that is shorter: a held call does not
// outlive its task.
func (u *Upgrade) EffectiveTimeout() Duration { return min(u.Timeout, u.TTL) }

// EffectiveOnStoreDown returns OnStoreDown or, where none is given, "sync", or "refuse"
// where the task is required: who requires tasks wants no plain calls of these tools.
func (u *Upgrade) EffectiveOnStoreDown() string {
	switch {
	case u.OnStoreDown != "":
		return u.OnStoreDown
	case u.Required:
		return string(upgrade.StoreRefuse)
	}
	return string(upgrade.StoreSync)
}
