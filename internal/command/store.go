package command

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"berth/internal/config"
	"berth/internal/storage"
)

// stateDirectory is what the service manager gave berth to keep state in, "" if nothing.
// It is the one place where the environment decides about the store.
func stateDirectory() string { return os.Getenv("STATE_DIRECTORY") }

// openStore opens the store that cfg names. It waits for a berth that holds the same
// file for as long as that may take to drain.
func openStore(ctx context.Context, cfg config.Config, o observers) (*storage.Store, error) {
	url, given := cfg.Store.EffectiveURL(stateDirectory())
	store, err := storage.OpenContext(ctx, string(url), storage.Options{
		Logger:        o.log,
		MeterProvider: o.meter,
		Durability:    cfg.Store.Durability,
		Wait:          time.Duration(cfg.Drain) + lastWords,
	})
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if given {
		o.log.Info("no store is configured: bindings are kept in the state directory", "store", store.String())
	}
	return store, nil
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
