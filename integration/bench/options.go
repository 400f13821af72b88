//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/goals"
)

// options are what the command line says.
type options struct {
	kinds       []string // empty: all
	proxies     []string // products; empty: all
	goals       bool     // only what goals are about
	quick       bool
	rounds      int
	duration    time.Duration // of each of the two loops
	warmUp      time.Duration
	rate        float64 // requests a second in the open loop
	connections int
	streams     int

	profile      string // the kind that berth is profiled at; "": none
	instructions string // the kind at which instructions are counted; "": none
	caches       bool   // what caches would not have is counted there, too
	pprof        string // directory for the profiles themselves; "": they are not kept
	from         string // file of a run, which is told again; "": one is made
	json         string // file for the run; "": none
	update       bool   // the page is written
}

func parse(args []string) (options, error) {
	var o options
	var kinds, proxies string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&kinds, "kinds", "", "`NAMES` of the kinds of work, with commas between (default all)")
	flags.StringVar(&proxies, "proxies", "", "`NAMES` of the proxies, with commas between (default all)")
	flags.BoolVar(&o.goals, "goals", false, "only what the goals compare")
	flags.IntVar(&o.rounds, "rounds", 5, "how often each is measured")
	flags.DurationVar(&o.duration, "duration", 2*time.Second, "how long each loop runs in a round")
	flags.Float64Var(&o.rate, "rate", 1000, "requests a second of the open loop; five times as many in tasks/get and tools/call")
	flags.IntVar(&o.connections, "connections", 32, "clients' connections")
	flags.IntVar(&o.streams, "streams", 9000, "standing streams")
	flags.StringVar(&o.profile, "profile", "", "`NAME` of a kind: tell what berth's CPU time goes into there, and nothing else")
	flags.StringVar(&o.instructions, "instructions", "", "`NAME` of a kind: count the instructions of a request there, by Callgrind, and nothing else")
	flags.BoolVar(&o.caches, "caches", false, "with --instructions: simulate caches, and count what they would not have, with all connections")
	flags.StringVar(&o.pprof, "pprof", "", "`DIRECTORY` that --profile and --instructions leave their profiles in, those of berths with a store too")
	flags.StringVar(&o.json, "json", "", "`FILE` for all samples")
	flags.StringVar(&o.from, "from", "", "`FILE` that --json has written: tell that run again, and make none")
	flags.BoolVar(&o.update, "update", false, "write the tables of docs/dev/performance.md")
	flags.BoolVar(&o.quick, "quick", false, "three short rounds, of tasks/get and tools/call unless --kinds names others; about a minute")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.kinds, o.proxies = list(kinds), list(proxies)
	if o.update && (o.quick || o.goals || kinds+proxies != "") {
		return o, errors.New("bench: --update writes whole tables: it goes with none of --quick, --goals, --kinds and --proxies")
	}
	if o.caches && (o.update || o.instructions == "") {
		return o, errors.New("bench: --caches goes with --instructions, and without --update")
	}
	if o.quick {
		o.rounds, o.duration = 3, 500*time.Millisecond
	}
	if o.quick && kinds == "" {
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

// wants reports whether a contender is to be measured in a kind.
func (o options) wants(k kind, c contender.Contender) bool {
	switch {
	case len(o.proxies) > 0 && !slices.Contains(o.proxies, c.Product):
		return false
	case o.goals:
		return goals.Wants(k.name, c.Name())
	case o.quick:
		return !c.Watched // its tasks would take longer than all else
	}
	return true
}

// chosen are the kinds that are wanted.
func (o options) chosen(all []kind) ([]kind, error) {
	if len(o.kinds) == 0 {
		return all, nil
	}
	var chosen []kind
	for _, name := range o.kinds {
		k, err := named(name, all)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, k)
	}
	return chosen, nil
}

func named(name string, all []kind) (kind, error) {
	i := slices.IndexFunc(all, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, fmt.Errorf("bench: there is no kind %q", name)
	}
	return all[i], nil
}
