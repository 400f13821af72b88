package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RateLimit is one [[limits.rate]] table: how often tools may be called.
type RateLimit struct {
	Name  string   `toml:"name"`
	Tools []string `toml:"tools"`
	Pool  string   `toml:"pool"`
	Per   string   `toml:"per" default:"principal" oneof:"principal address pool"`
	Rate  Pace     `toml:"rate"`
	Burst int      `toml:"burst" within:"0 1000000"`
}

// EffectiveName returns Name, or the tools.
func (r RateLimit) EffectiveName() string { return cmp.Or(r.Name, strings.Join(r.Tools, ",")) }

// EffectiveBurst returns Burst, or what the rate allows in its unit of time.
func (r RateLimit) EffectiveBurst() int { return cmp.Or(r.Burst, r.Rate.Count) }

// maxRates bounds what each call of a tool is compared with.
const maxRates = 64

func (v *validator) rateLimits(c *Config) {
	rules := c.Limits.Rate
	if len(rules) > maxRates {
		v.fault("limits.rate", "must be at most %d, got %d", maxRates, len(rules))
		return
	}
	names := map[string]string{}
	for i, rule := range rules {
		key := elementKey("limits.rate", i)
		v.bounds(key, reflect.ValueOf(rule))
		v.tools(key+".tools", rule.Tools)
		v.faultIf(rule.Pool != "" && !slices.Contains(poolNames(c), rule.Pool), key+".pool", "must be the name of a pool, got %s", quote(rule.Pool))
		v.faultIf(rule.Rate.Count == 0, key+".rate", "is missing")
		v.faultIf(rule.Name != "" && (len(rule.Name) > maxName || !isVisible(rule.Name)), key+".name", "must be 1 to %d visible ASCII characters without blanks", maxName)
		v.unique(names, rule.EffectiveName(), key+".name", "is the name, or are the tools, of %s already: give it one of its own")
	}
}

// Pace is how often something may be done, written like "10/s", "100/m" or "1000/h". The zero value is
// written "".
type Pace struct {
	Count  int
	Period Duration
}

var paces = map[string]Duration{"s": Duration(time.Second), "m": Duration(time.Minute), "h": hour}

// UnmarshalText reads a whole number a second, a minute or an hour.
func (p *Pace) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*p = Pace{}
		return nil
	}
	number, unit, _ := strings.Cut(string(text), "/")
	n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
	period, known := paces[strings.TrimSpace(unit)]
	if err != nil || !known || n == 0 || n > maxRate {
		return fmt.Errorf(`must be a rate such as "10/s", "100/m" or "1000/h", got %s`, quote(string(text)))
	}
	*p = Pace{int(n), period}
	return nil
}

// PerSecond is the rate by the second.
func (p Pace) PerSecond() float64 { return float64(p.Count) / time.Duration(p.Period).Seconds() }
