//go:build linux

package main

import (
	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/report"
)

// A kind is one sort of work that all its contenders are given.
type kind struct {
	name string
	unit string  // what is counted, if it is no request
	pace float64 // of the open loop, as a multiple of the rate; 0: there is none

	// prepare makes a connection's op, for the contender that it leads to; nil where measure needs none.
	prepare func(*load.Conn, contender.Contender) (load.Op, error)

	// measure takes one sample of a contender.
	measure func(*bench, kind, contender.Contender) (report.Sample, error)

	contenders []contender.Contender
}

// measured is by what a contender that was just started is measured.
type measured func(*bench, kind, contender.Contender, *contender.Running) (report.Sample, error)

// fresh starts the contender for each measurement.
func fresh(f measured) func(*bench, kind, contender.Contender) (report.Sample, error) {
	return func(b *bench, k kind, c contender.Contender) (report.Sample, error) {
		proxy, err := contender.Start(c, b.site)
		if err != nil {
			return nil, err
		}
		defer proxy.Stop()
		return f(b, k, c, proxy)
	}
}
