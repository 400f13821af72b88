//go:build linux

// Bench compares what berth costs with what other proxies cost, and with none: see docs/dev/performance.md.
//
//	go run ./integration/bench [--quick] [--kinds NAMES] [--proxies NAMES] [--rounds N] [--duration D] [--json FILE]
//
// The proxy that is measured has one core of the machine; the load, the upstreams and Redis have the others. Rounds are
// interleaved: each goes once through all proxies. What it measures lies in packages of their own: load is the clients'
// side, upstream the servers' side, contender starts the proxies, proc reads what they cost, report makes the table.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"berth/integration/bench/contender"
	"berth/integration/bench/report"
	"berth/integration/bench/upstream"
)

func main() {
	err := do(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func do(args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	chosen, err := o.chosen(kinds())
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := prepare(o, dir)
	if err != nil {
		return err
	}
	watch, err := watchOthers()
	if err != nil {
		return err
	}
	rows := b.run(chosen)
	theirs, err := watch.part()
	if err != nil {
		return err
	}
	fmt.Printf("%s; others took %.0f %% of it\n\n%s", describe(o, b.site.Programs), 100*theirs, report.Table(rows))
	if b.failed > 0 {
		err = fmt.Errorf("bench: %d measurements failed, and are in no number", b.failed)
	}
	return errors.Join(err, save(o.json, rows))
}

// prepare starts what stays for the whole run.
func prepare(o options, dir string) (*bench, error) {
	programs, err := contender.Find(dir)
	if err != nil {
		return nil, err
	}
	if err := allowFiles(o.streams); err != nil {
		return nil, err
	}
	core, err := leaveACore()
	if err != nil {
		return nil, err
	}
	debug.SetGCPercent(400) // the load's own garbage is nobody's business
	fleet, err := upstream.Start("a", "b")
	if err != nil {
		return nil, err
	}
	site := contender.Site{Programs: programs, Dir: dir, Core: core, Upstreams: fleet.Instances}
	return &bench{options: o, site: site, fleet: fleet, progress: os.Stderr}, nil
}

func save(path string, rows []report.Row) error {
	if path == "" {
		return nil
	}
	all, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(all, '\n'), 0o644)
}
