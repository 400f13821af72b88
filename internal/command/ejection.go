package command

import (
	"slices"
	"time"

	"berth/internal/config"
	"berth/routing"
)

var failures = map[string]routing.Failure{
	config.EjectOnConnect: routing.FailedConnect,
	config.EjectOnTimeout: routing.FailedTimeout,
	config.EjectOn5xx:     routing.FailedStatus,
}

func ejection(cfg config.Ejection) routing.Ejection {
	e := routing.Ejection{
		Failures: cfg.Failures,
		Window:   time.Duration(cfg.Window),
		Min:      time.Duration(cfg.Min),
		Max:      time.Duration(cfg.Max),
		Percent:  cfg.Percent,
	}
	for outcome, failure := range failures {
		if !slices.Contains(cfg.On, outcome) {
			e.Ignore |= failure
		}
	}
	return e
}
