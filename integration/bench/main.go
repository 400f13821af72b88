//go:build linux

// Bench compares what berth costs with what other proxies cost, and with none, and says which goals are met: see
// docs/dev/performance.md.
//
//	go run ./integration/bench [--quick] [--goals] [--kinds NAMES] [--proxies NAMES] [--rounds N] [--duration D] [--json FILE] [--update]
//	go run ./integration/bench --from FILE [--update]
//	go run ./integration/bench --profile KIND [--pprof DIRECTORY] [--duration D] [--update]
//	go run ./integration/bench --instructions KIND [--caches] [--proxies NAMES] [--pprof DIRECTORY] [--duration D] [--update]
//
// The proxy that is measured has one core of the machine; the load, the upstreams and Redis have the others. Rounds are
// interleaved: each goes once through all proxies. What it measures lies in packages of their own: load is the clients'
// side, upstream the servers' side, contender starts the proxies, proc reads what they cost, profile what they do
// meanwhile; report makes the table, and goals the verdicts.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"

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
	if o.from != "" {
		run, err := report.Load(o.from)
		if err != nil {
			return err
		}
		return o.tell(blocksOf(run))
	}
	chosen, err := o.chosen(kinds())
	if err != nil {
		return err
	}
	if err := o.hasPlaces(); err != nil {
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
	if o.profile != "" {
		blocks, err := b.profileKind()
		return errors.Join(err, o.tell(blocks))
	}
	if o.instructions != "" {
		blocks, err := b.countKind()
		return errors.Join(err, o.tell(blocks))
	}
	run, err := b.watchedRun(chosen)
	if err != nil {
		return err
	}
	if o.json != "" {
		err = run.Save(o.json)
	}
	if b.failed > 0 {
		err = errors.Join(err, fmt.Errorf("bench: %d measurements failed, and are in no number", b.failed))
	}
	return errors.Join(err, o.tell(blocksOf(run)))
}

// watchedRun measures, and takes what others did on the machine meanwhile.
func (b *bench) watchedRun(chosen []kind) (run report.Run, err error) {
	watch, err := watchOthers()
	if err != nil {
		return run, err
	}
	run.Rows = b.run(chosen)
	b.end()
	theirs, err := watch.part()
	run.How = fmt.Sprintf("%s; others took %.0f %% of it", describe(b.options, b.site.Programs), 100*theirs)
	return run, err
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
	certificate, err := contender.NewCertificate(dir)
	if err != nil {
		return nil, err
	}
	cores, err := leaveACore()
	if err != nil {
		return nil, err
	}
	debug.SetGCPercent(400) // the load's own garbage is nobody's business
	fleet, err := upstream.Start("a", "b")
	if err != nil {
		return nil, err
	}
	return &bench{
		options: o, fleet: fleet, progress: os.Stderr, resting: make(map[string]time.Duration),
		site: contender.Site{Programs: programs, Dir: dir, Cores: cores, Certificate: certificate, Upstreams: fleet.Instances},
	}, nil
}
