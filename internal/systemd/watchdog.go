package systemd

import (
	"context"
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Probe finds out whether a part of the process lives. It may hang: then it does not. An error says
// so, too.
type Probe struct {
	Name string
	Ask  func() error
}

// Watchdog tells the manager that the process lives, for as long as all probes say so.
type Watchdog struct {
	Probes []Probe
	Log    *slog.Logger // hears which of them does not; required

	interval time.Duration         // in which the manager wants to hear; 0: it does not
	asked    map[string]chan error // that have not returned
	silent   bool
	tell     func()
}

// NewWatchdog returns one that the manager has asked for by the environment, or one that does
// nothing.
func NewWatchdog(log *slog.Logger, probes ...Probe) *Watchdog {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("the service manager asks for a watchdog in words that mean nothing", "error", err)
	}
	return newWatchdog(interval, Notifier{Log: log}, log, probes)
}

func newWatchdog(interval time.Duration, n Notifier, log *slog.Logger, probes []Probe) *Watchdog {
	return &Watchdog{
		Probes: probes, Log: log, interval: interval, asked: map[string]chan error{},
		tell: func() { n.tell(daemon.SdNotifyWatchdog) },
	}
}

// perInterval is how often the manager hears in the time in which it wants to.
const perInterval = 3

// Run tells the manager until ctx ends. It returns nil.
func (w *Watchdog) Run(ctx context.Context) error {
	if w.interval <= 0 {
		return nil
	}
	tick := time.NewTicker(w.interval / perInterval)
	defer tick.Stop()
	for {
		if w.lives(ctx, w.interval/perInterval) {
			w.tell()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// lives asks all probes at once. One that has not returned since it was asked before is not asked
// again.
func (w *Watchdog) lives(ctx context.Context, within time.Duration) bool {
	for _, probe := range w.Probes {
		if w.asked[probe.Name] == nil {
			answer := make(chan error, 1)
			w.asked[probe.Name] = answer
			go func() { answer <- probe.Ask() }()
		}
	}
	late := time.NewTimer(within)
	defer late.Stop()
	for _, probe := range w.Probes {
		select {
		case err := <-w.asked[probe.Name]:
			delete(w.asked, probe.Name)
			if err != nil {
				return w.noteSilence(probe.Name, err.Error())
			}
		case <-late.C:
			return w.noteSilence(probe.Name, "does not answer")
		case <-ctx.Done():
			return false
		}
	}
	w.silent = false
	return true
}

// noteSilence says once why the manager hears nothing any more.
func (w *Watchdog) noteSilence(probe, why string) bool {
	if !w.silent {
		w.Log.Error("berth is not well: the service manager is not told that it lives", "probe", probe, "why", why)
	}
	w.silent = true
	return false
}
