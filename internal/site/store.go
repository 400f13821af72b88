package site

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"time"

	"berth/internal/admin"
	"berth/internal/certs"
	"berth/internal/config"
	"berth/internal/storage"
	"berth/internal/trouble"
)

// Store is where a site keeps what outlives it, and what that is reached by.
type Store struct {
	*storage.Store
	trust storeTrust // the zero value: the system's, or none
}

// OpenStore waits for a berth that holds the same file for as long as that may take to drain. An error of a file that the configuration
// names says of which key it is.
func OpenStore(ctx context.Context, cfg config.Config, o Observers) (Store, error) {
	url, given, err := cfg.Store.EffectiveURL(StateDirectory())
	if err != nil {
		return Store{}, at("store.url_file", err)
	}
	trust, err := newStoreTrust(cfg.Store, o)
	if err != nil {
		return Store{}, eachAt("store.tls", "store", err)
	}
	store, err := storage.OpenContext(ctx, string(url), storage.Options{
		Logger:        o.Log,
		MeterProvider: o.Meter,
		Lost: func(why string) {
			o.Troubles.Note(trouble.StoreOutages, trouble.Event{What: "store_unavailable", Detail: why})
		},
		Durability: cfg.Store.Durability,
		Wait:       time.Duration(cfg.DrainDelay) + time.Duration(cfg.Drain) + LastWords,
		TLS:        trust.config(),
	})
	if err != nil {
		return Store{}, fmt.Errorf("store: %w", err)
	}
	if given {
		o.Log.Info("no store is configured: bindings are kept in the state directory", "store", store.String())
	}
	return Store{store, trust}, nil
}

// storeTrust is what servers of the store are spoken to by over TLS. The zero value is the system's.
type storeTrust struct{ *certs.Trust }

func newStoreTrust(cfg config.Store, o Observers) (storeTrust, error) {
	if cfg.TLS == (config.ServerTLS{}) {
		return storeTrust{}, nil
	}
	trust, err := openTrust("store.tls", "store_tls", cfg.TLS, o)
	return storeTrust{trust}, err
}

// config is what a connection to a host is secured by; nil: as the URL says alone.
func (t storeTrust) config() func(host string) *tls.Config {
	if t.Trust == nil {
		return nil
	}
	return t.Config
}

// run takes over changed files until ctx ends.
func (t storeTrust) run(ctx context.Context) error {
	if t.Trust == nil {
		return nil
	}
	return t.Run(ctx)
}

// look is what check --online finds in the files.
func (t storeTrust) look() []Finding {
	if t.Trust == nil {
		return nil
	}
	switch fault, overdue := t.Fault(), t.Overdue(); {
	case fault != "":
		return []Finding{{Key: "store.tls", Text: fault}}
	case overdue != "":
		return []Finding{{Key: "store.tls", Text: overdue, Warning: true}}
	}
	return nil
}

func (t storeTrust) checks() []admin.Check {
	if t.Trust == nil {
		return nil
	}
	return []admin.Check{{Name: "tls of store", Probe: func() (bool, string) { return true, t.Fault() }}}
}

// StateDirectory is what the service manager gave berth: the one place where the environment
// decides about the store.
func StateDirectory() string { return os.Getenv("STATE_DIRECTORY") }

// Announce tells what is kept of tasks and sessions where, and which calls become tasks.
func (s *Site) Announce() {
	announceStore(s.Log, s.store)
	announceUpgrades(s.Log, upgradeRules(s.now.Load().cfg), s.store, s.tasks.Load())
}

func announceStore(log *slog.Logger, store *storage.Store) {
	switch {
	case store.Shared():
	case store.Durable():
		log.Info("bindings are kept in a file: a restart finds them again; another berth does not see them (--store redis://… shares them)")
	default:
		log.Info("bindings are kept in memory: a restart forgets which instance owns which task and session, " +
			"and asks the fleet for each anew; another berth does not see them (--store file:PATH keeps them, redis://… shares them too)")
	}
}
