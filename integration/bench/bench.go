//go:build linux

package main

import (
	"fmt"
	"io"
	"time"

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

	failed  int                      // measurements
	resting map[string]time.Duration // of CPU while standing streams were idle, by contender
	ends    []func()                 // of what stays beyond a measurement
}

// end ends what has stayed.
func (b *bench) end() {
	for _, end := range b.ends {
		end()
	}
}

// run measures kind after kind; the rounds of one are interleaved.
func (b *bench) run(kinds []kind) []report.Row {
	var rows []report.Row
	for _, k := range kinds {
		var of []report.Row
		for _, c := range b.present(k) {
			of = append(of, report.Row{Kind: k.name, Unit: k.unit, Contender: c.Name(), Product: c.Product, Quiet: c.Quiet})
		}
		for round := range b.rounds {
			for i, c := range b.present(k) {
				sample, err := k.measure(b, k, c)
				b.tell(k, c, round, sample, err)
				of[i].Rounds = append(of[i].Rounds, sample)
			}
		}
		rows = append(rows, of...)
	}
	return rows
}

// present are those of the contenders that are wanted and installed.
func (b *bench) present(k kind) (present []contender.Contender) {
	for _, c := range k.contenders {
		if b.wants(k, c) && b.site.Programs.Has(c) {
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
