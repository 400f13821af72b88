//go:build linux

package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/integration/bench/contender"
)

// options are what the command line says.
type options struct {
	kinds       []string // empty: all
	proxies     []string // products; empty: all
	rounds      int
	duration    time.Duration // of each of the two loops
	warmUp      time.Duration
	rate        float64 // requests a second in the open loop
	connections int
	streams     int
	json        string // file; "": none
}

func parse(args []string) (options, error) {
	var o options
	var kinds, proxies string
	var quick bool
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&kinds, "kinds", "", "`NAMES` of the kinds of work, with commas between (default all)")
	flags.StringVar(&proxies, "proxies", "", "`NAMES` of the proxies, with commas between (default all)")
	flags.IntVar(&o.rounds, "rounds", 3, "how often each is measured")
	flags.DurationVar(&o.duration, "duration", 3*time.Second, "how long each loop runs in a round")
	flags.Float64Var(&o.rate, "rate", 1000, "requests a second of the open loop")
	flags.IntVar(&o.connections, "connections", 32, "clients' connections")
	flags.IntVar(&o.streams, "streams", 9000, "standing streams")
	flags.StringVar(&o.json, "json", "", "`FILE` for all samples")
	flags.BoolVar(&quick, "quick", false, "three short rounds, of tasks/get and tools/call unless --kinds names others; about a minute")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.kinds, o.proxies = list(kinds), list(proxies)
	if quick {
		o.rounds, o.duration = 3, 600*time.Millisecond
	}
	if quick && kinds == "" {
		o.kinds = []string{"tasks/get", "tools/call"}
	}
	o.warmUp = o.duration / 3
	if flags.NArg() > 0 || o.rounds < 1 || o.duration <= 0 || o.rate <= 0 || o.connections < 1 || o.streams < 1 {
		return o, fmt.Errorf("bench: %s: numbers must be positive, and nothing stands behind the flags", strings.Join(args, " "))
	}
	return o, nil
}

func list(names string) []string {
	return strings.FieldsFunc(names, func(r rune) bool { return r == ',' })
}

func (o options) wants(c contender.Contender) bool {
	return len(o.proxies) == 0 || slices.Contains(o.proxies, c.Product)
}

// chosen are the kinds that are wanted.
func (o options) chosen(all []kind) ([]kind, error) {
	if len(o.kinds) == 0 {
		return all, nil
	}
	var chosen []kind
	for _, name := range o.kinds {
		i := slices.IndexFunc(all, func(k kind) bool { return k.name == name })
		if i < 0 {
			return nil, fmt.Errorf("bench: there is no kind %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
