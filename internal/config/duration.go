package config

import (
	"fmt"
	"strings"
	"time"
)

// Duration is a span of time, written like "30s", "5m" or "168h".
type Duration time.Duration

// UnmarshalText reads what [time.ParseDuration] reads, and nothing negative.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf(`must be a duration with a unit, such as "30s", got %s`, quote(string(text)))
	}
	if parsed < 0 {
		return fmt.Errorf("must not be negative, got %s", quote(string(text)))
	}
	*d = Duration(parsed)
	return nil
}

// String returns the shortest form that reads back as the same value: "168h",
// not "168h0m0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
