package upgrade

import "log/slog"

// Peers is what berths do for each other.
type Peers struct {
	ledger *Ledger
	runner *Runner
	log    *slog.Logger
}
