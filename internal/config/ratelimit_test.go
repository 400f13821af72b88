package config

import (
	"strings"
	"testing"
	"time"
)

func TestRateLimitFaults(t *testing.T) {
	const good = "tools = [\"a*\"]\nrate = \"1/s\"\n"
	for _, c := range []struct{ text, want string }{
		{good, ""},
		{good + "burst = 3\nper = \"pool\"\npool = \"default\"\n", ""},
		{"rate = \"1/s\"\n", "f:1: limits.rate[0].tools: there must be at least one"},
		{"tools = [\"a\"]\n", "f:1: limits.rate[0].rate: is missing"},
		{"tools = [\"a\"]\nrate = \"fast\"\n", `f:3: limits.rate[0].rate: must be a rate such as "10/s", "100/m" or "1000/h", got "fast"`},
		{"tools = [\"a\"]\nrate = \"0/s\"\n", `f:3: limits.rate[0].rate: must be a rate such as "10/s", "100/m" or "1000/h", got "0/s"`},
		{good + "per = \"tool\"\n", `f:4: limits.rate[0].per: must be one of principal, address, pool, got "tool"`},
		{good + "pool = \"other\"\n", `f:4: limits.rate[0].pool: must be the name of a pool, got "other"`},
		{good + "[[limits.rate]]\n" + good, "f:4: limits.rate[1].name: is the name, or are the tools, of limits.rate[0] already: give it one of its own"},
		{good + "[[limits.rate]]\nname = \"b\"\n" + good, ""},
	} {
		cfg, err := Parse("f", []byte("[[limits.rate]]\n"+c.text+oneUpstream))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.text, got, c.want)
		}
		if err == nil && strings.Contains(c.text, "burst") && cfg.Limits.Rate[0].EffectiveBurst() != 3 {
			t.Errorf("got a burst of %d", cfg.Limits.Rate[0].EffectiveBurst())
		}
	}
}

func TestPaceIsReadByItsUnit(t *testing.T) {
	for text, want := range map[string]struct {
		perSecond float64
		period    time.Duration
		count     int
	}{"10/s": {10, time.Second, 10}, "120/m": {2, time.Minute, 120}, "1800/h": {0.5, time.Hour, 1800}} {
		var p Pace
		if err := p.UnmarshalText([]byte(text)); err != nil || p.PerSecond() != want.perSecond || time.Duration(p.Period) != want.period || p.Count != want.count {
			t.Errorf("%s: got %+v, %v", text, p, err)
		}
	}
}
