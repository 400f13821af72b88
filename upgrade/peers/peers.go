package peers

import (
	"log/slog"
	"sync/atomic"

	"berth/upgrade/ledger"
	"berth/upgrade/runner"
)

// Peers is what berths do for each other.
type Peers struct {
	ledger *ledger.Ledger
	runner *runner.Runner
	log    *slog.Logger
	left   told[leftTask] // by others
	leaves atomic.Bool    // something to others
	strays told[string]   // that others took for this process's
}

// New returns what a process does for others, and lets them do for it. Run it.
func New(l *ledger.Ledger, r *runner.Runner, log *slog.Logger) *Peers {
	return &Peers{ledger: l, runner: r, log: log, left: newTold[leftTask](), strays: newTold[string]()}
}
