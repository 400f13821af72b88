//go:build linux

package main

import (
	"fmt"
	"io"

	"berth/integration/bench/contender"
	"berth/integration/bench/report"
	"berth/integration/bench/upstream"
)

// bench is one run of the benchmark.
type bench struct {
	options
	site     contender.Site
	fleet    *upstream.Fleet
	progress io.Writer

	failed int // measurements
}

// run measures kind after kind; the rounds of one are interleaved.
func (b *bench) run(kinds []kind) []report.Row {
	var rows []report.Row
	for _, k := range kinds {
		var of []report.Row
		for _, c := range b.present(k.contenders) {
			of = append(of, report.Row{Kind: k.name, Unit: k.unit, Contender: c.Name(), Product: c.Product, Quiet: c.Quiet})
		}
		for round := range b.rounds {
			for i, c := range b.present(k.contenders) {
				sample, err := b.measure(k, c)
				b.tell(k, c, round, sample, err)
				of[i].Rounds = append(of[i].Rounds, sample)
			}
		}
		rows = append(rows, of...)
	}
	return rows
}

// present are those of the contenders that are wanted and installed.
func (b *bench) present(contenders []contender.Contender) (present []contender.Contender) {
	for _, c := range contenders {
		if b.wants(c) && b.site.Programs.Has(c) {
			present = append(present, c)
		}
	}
	return present
}

// tell reports what a measurement came to.
func (b *bench) tell(k kind, c contender.Contender, round int, sample report.Sample, err error) {
	what := fmt.Sprintf("%s, %s, round %d", k.name, c.Name(), round+1)
	if err != nil {
		b.failed++
		fmt.Fprintf(b.progress, "%s: failed: %v\n", what, err)
		return
	}
	fmt.Fprintf(b.progress, "%s: %s\n", what, sample)
}

// measure takes one sample of a contender that was just started.
func (b *bench) measure(k kind, c contender.Contender) (report.Sample, error) {
	proxy, err := contender.Start(c, b.site)
	if err != nil {
		return nil, err
	}
	defer proxy.Stop()
	if k.prepare == nil {
		return b.measureStreams(k, proxy)
	}
	return b.measureLoops(k, c, proxy)
}
