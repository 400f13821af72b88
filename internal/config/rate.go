package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Rate is how often something may happen, in times a second, written like "50/s" or
// "10/m". 0, written "0/s", is no bound.
type Rate float64

// maxRate is far beyond what one process can do, and keeps sums with rates exact.
const maxRate = 1_000_000

// UnmarshalText reads a whole number a second or a minute.
func (r *Rate) UnmarshalText(text []byte) error {
	number, unit, _ := strings.Cut(string(text), "/")
	n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
	seconds, known := map[string]float64{"s": 1, "m": 60}[strings.TrimSpace(unit)]
	if err != nil || !known || n > maxRate {
		return fmt.Errorf(`must be a rate such as "50/s" or "10/m", got %s`, quote(string(text)))
	}
	*r = Rate(float64(n) / seconds)
	return nil
}

// String returns the rate by the second if that is a whole number, else by the
// minute.
func (r Rate) String() string {
	if r == Rate(math.Trunc(float64(r))) {
		return strconv.FormatFloat(float64(r), 'f', 0, 64) + "/s"
	}
	return strconv.FormatFloat(math.Round(float64(r)*60), 'f', 0, 64) + "/m"
}
