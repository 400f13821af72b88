package config

import "time"

// The values of [Ejection.On].
const (
	// EjectOnConnect is no connection, one that broke before an answer, or an answer that
	// is none in HTTP.
	EjectOnConnect = "connect"
	// EjectOnTimeout is no connection, or no answer's header, in time.
	EjectOnTimeout = "timeout"
	// EjectOn5xx is an HTTP status of 500 to 599, but for 501.
	EjectOn5xx = "5xx"
)

// Ejection is the [pools.ejection] table: when an upstream that fails gets no unbound work
// for a while.
type Ejection struct {
	// On are the outcomes that count. Empty: nobody is ejected.
	On []string `toml:"on"`
	// Failures is how many with no success between eject.
	Failures int `toml:"failures"`
	// Window is the time within which they must lie.
	Window Duration `toml:"window"`
	// Min is how long the first ejection lasts, and how much longer each that follows upon it.
	Min Duration `toml:"min"`
	// Max is how long the longest lasts.
	Max Duration `toml:"max"`
	// Percent is how many of the pool's upstreams may be out at once.
	Percent int `toml:"percent"`
}

func defaultEjection() Ejection {
	return Ejection{
		On:       []string{EjectOnConnect, EjectOnTimeout, EjectOn5xx},
		Failures: 5,
		Window:   Duration(5 * time.Minute),
		Min:      Duration(5 * time.Second),
		Max:      Duration(time.Minute),
		Percent:  50,
	}
}

func (v *validator) ejection(key string, e Ejection) {
	for i, outcome := range e.On {
		v.oneOf(elementKey(key+".on", i), outcome, EjectOnConnect, EjectOnTimeout, EjectOn5xx)
	}
	within(v, key+".failures", e.Failures, 1, 1000)
	within(v, key+".window", e.Window, shortest, day)
	within(v, key+".min", e.Min, shortest, hour)
	within(v, key+".max", e.Max, shortest, day)
	if e.Max < e.Min {
		v.fault(key+".max", "must not be less than min, %v, got %v", e.Min, e.Max)
	}
	within(v, key+".percent", e.Percent, 1, 100)
}
