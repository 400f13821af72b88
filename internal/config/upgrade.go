package config

import "berth/upgrade"

// Upgrade is one [[upgrade]] table: tools whose calls become tasks. The first that names a tool
// counts.
type Upgrade struct {
	Tools            []string `toml:"tools"`
	Pool             string   `toml:"pool"`
	After            Duration `toml:"after" within:"0s 1h"`
	RefusalGrace     Duration `toml:"refusal_grace" default:"100ms" within:"0s 10s"`
	Required         bool     `toml:"required"`
	TTL              Duration `toml:"ttl" default:"1h" within:"1s 8760h"`
	MaxTTL           Duration `toml:"max_ttl" default:"24h" within:"1s 8760h"`
	PollInterval     Duration `toml:"poll_interval" default:"1s" within:"1ms 1h"`
	Timeout          Duration `toml:"timeout" default:"1h" within:"1ms 8760h"`
	MaxResult        Size     `toml:"max_result" default:"8MiB" within:"1KiB 64MiB"` // storage.MaxBlob
	Concurrency      int      `toml:"concurrency" within:"0 10000000"`
	OnOrphan         string   `toml:"on_orphan" default:"fail" oneof:"fail rerun"`
	OnStoreDown      string   `toml:"on_store_down"`
	LivePerPrincipal int      `toml:"live_per_principal" default:"100" within:"1 10000000"`
	LivePerProcess   int      `toml:"live_per_process" default:"10000" within:"1 10000000"`

	Webhooks []Webhook `toml:"webhook"`
}

// DefaultUpgrade returns the rule that an [[upgrade]] table without keys makes.
func DefaultUpgrade() Upgrade { return defaultOf[Upgrade]() }

// EffectiveMaxTTL returns MaxTTL, or [Store.MaxTTL] where that is shorter.
func (u *Upgrade) EffectiveMaxTTL(storeMax Duration) Duration { return min(u.MaxTTL, storeMax) }

// EffectiveTimeout returns Timeout, or TTL: a held call does not outlive its task.
func (u *Upgrade) EffectiveTimeout() Duration { return min(u.Timeout, u.TTL) }

// EffectiveOnStoreDown returns OnStoreDown or, without one, "sync"; "refuse" where the task is
// required.
func (u *Upgrade) EffectiveOnStoreDown() string {
	switch {
	case u.OnStoreDown != "":
		return u.OnStoreDown
	case u.Required:
		return string(upgrade.StoreRefuse)
	}
	return string(upgrade.StoreSync)
}
