//go:build linux

package main

import (
	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/report"
	"berth/integration/bench/upstream"
)

// known is a berth that knows tasks.
type known struct {
	proxy *contender.Running
	tasks []string
}

// among measures berths that know many tasks. To make a million of them takes long, so that such a berth stays for all
// measurements; one of few is started for each, lest those that creations add make them many.
type among struct {
	stays map[contender.Contender]known
}

// staying is the least number of tasks of a berth that stays.
const staying = 100_000

func (a *among) measure(b *bench, k kind, c contender.Contender) (report.Sample, error) {
	berth, there := a.stays[c]
	if !there {
		var err error
		if berth, err = b.know(c); err != nil {
			return nil, err
		}
		if c.Bindings < staying {
			defer berth.proxy.Stop()
		} else {
			a.stays[c] = berth
			b.ends = append(b.ends, berth.proxy.Stop)
		}
	}
	clients, err := b.connect(berth.proxy)
	defer clients.close()
	if err != nil {
		return nil, err
	}
	ops := pollAny(clients, berth.tasks)
	if k.prepare != nil {
		if ops, err = clients.ops(k, c); err != nil {
			return nil, err
		}
	}
	if warm := load.Saturate(ops, b.warmUp); warm.Err != nil {
		return nil, warm.Err
	}
	sample := make(report.Sample)
	if err := b.saturate(berth.proxy, func() load.Result { return load.Saturate(ops, b.duration) }, sample); err != nil {
		return nil, err
	}
	return sample, noteResident(berth.proxy, sample)
}

// know starts a berth, and has its tasks made.
func (b *bench) know(c contender.Contender) (known, error) {
	proxy, err := contender.Start(c, b.site)
	if err != nil {
		return known{}, err
	}
	tasks, err := b.makeTasks(proxy, upstream.Make, c.Bindings)
	if err != nil {
		proxy.Stop()
	}
	return known{proxy, tasks}, err
}
