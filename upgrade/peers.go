package upgrade

import (
	"log/slog"

	"berth/upgrade/ledger"
	"berth/upgrade/runner"
)

// Peers is what berths do for each other.
type Peers struct {
	ledger *ledger.Ledger
	runner *runner.Runner
	log    *slog.Logger
}
