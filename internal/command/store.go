package command

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"berth/internal/admin"
	"berth/internal/certs"
	"berth/internal/config"
	"berth/internal/storage"
	"berth/internal/trouble"
)

// openStore waits for a berth that holds the same file for as long as that may take to drain.
func openStore(ctx context.Context, cfg config.Config, o observers) (*storage.Store, storeTrust, error) {
	url, given, err := cfg.Store.EffectiveURL(stateDirectory())
	if err != nil {
		return nil, storeTrust{}, err
	}
	trust, err := newStoreTrust(cfg.Store, o)
	if err != nil {
		return nil, trust, fmt.Errorf("store: %w", err)
	}
	store, err := storage.OpenContext(ctx, string(url), storage.Options{
		Logger:        o.log,
		MeterProvider: o.meter,
		Lost: func(why string) {
			o.troubles.Note(trouble.StoreOutages, trouble.Event{What: "store_unavailable", Detail: why})
		},
		Durability: cfg.Store.Durability,
		Wait:       time.Duration(cfg.DrainDelay) + time.Duration(cfg.Drain) + lastWords,
		TLS:        trust.config(),
	})
	if err != nil {
		return nil, trust, fmt.Errorf("store: %w", err)
	}
	if given {
		o.log.Info("no store is configured: bindings are kept in the state directory", "store", store.String())
	}
	return store, trust, nil
}

// storeTrust is what servers of the store are spoken to by over TLS. The zero value is the system's.
type storeTrust struct{ *certs.Trust }

func newStoreTrust(cfg config.Store, o observers) (storeTrust, error) {
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
func (t storeTrust) look() []finding {
	if t.Trust == nil {
		return nil
	}
	switch fault, overdue := t.Fault(), t.Overdue(); {
	case fault != "":
		return []finding{{key: "store.tls", text: fault}}
	case overdue != "":
		return []finding{{key: "store.tls", text: overdue, warning: true}}
	}
	return nil
}

func (t storeTrust) checks() []admin.Check {
	if t.Trust == nil {
		return nil
	}
	return []admin.Check{{Name: "tls of store", Probe: func() (bool, string) { return true, t.Fault() }}}
}
