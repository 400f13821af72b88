package upgrade

import (
	"log/slog"

	"berth/upgrade/ledger"
)

// Peers is what berths do for each other.
type Peers struct {
	ledger *ledger.Ledger
	runner *Runner
	log    *slog.Logger
}
