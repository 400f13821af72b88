//go:build linux

package main

import (
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/report"
	"berth/integration/bench/upstream"
)

// heldCalls are how many calls berth holds at once where their memory is measured.
const heldCalls = 10_000

// measureHeld measures what each call that berth holds for a task adds to its memory: of calls whose servers have
// begun an event stream and say nothing. Their arguments, 70 bytes, are in it; there is no result yet.
func (b *bench) measureHeld(_ kind, _ contender.Contender, proxy *contender.Running) (report.Sample, error) {
	if err := await("calls of the berth before", 0, finishing, b.fleet.Held); err != nil {
		return nil, err
	}
	if err := b.warm(proxy); err != nil {
		return nil, err
	}
	before, err := resident(proxy)
	if err != nil {
		return nil, err
	}
	if _, err := b.makeTasks(proxy, upstream.Hold, heldCalls); err != nil {
		return nil, err
	}
	if err := await("calls held", heldCalls, finishing, b.fleet.Held); err != nil {
		return nil, err
	}
	time.Sleep(settling)
	after, err := resident(proxy)
	return report.Sample{
		report.Each:     float64(after-before) / (1 << 10) / heldCalls,
		report.Resident: mebi(after),
	}, err
}
