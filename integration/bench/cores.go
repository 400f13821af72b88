//go:build linux

package main

import (
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/report"
)

// measureCores measures a closed loop whose load and upstreams share the cores of the proxy. That way the same machine
// shows what one core carries and what two carry. The load's part in it shows beside, where there is no proxy.
func (b *bench) measureCores(k kind, c contender.Contender) (sample report.Sample, err error) {
	if err := occupy(b.site.Cores[:c.Cores]); err != nil {
		return nil, err
	}
	defer func() {
		if back := occupy(b.site.Cores[1:]); err == nil {
			err = back
		}
	}()
	return fresh((*bench).saturateAll)(b, k, c)
}

func (b *bench) saturateAll(k kind, c contender.Contender, proxy *contender.Running) (report.Sample, error) {
	clients, err := b.connect(proxy)
	defer clients.close()
	if err != nil {
		return nil, err
	}
	ops, err := clients.ops(k, c)
	if err != nil {
		return nil, err
	}
	if warm := load.Saturate(ops, b.warmUp); warm.Err != nil {
		return nil, warm.Err
	}
	sample := make(report.Sample)
	var own, all time.Duration
	err = b.saturate(proxy, func() load.Result {
		before := ownCPU()
		result := load.Saturate(ops, b.duration)
		own, all = ownCPU()-before, result.Took*time.Duration(c.Cores)
		return result
	}, sample)
	proxys := sample[report.Busy] * float64(all) / float64(c.Cores)
	sample[report.Filled] = (float64(own) + proxys) / float64(all)
	delete(sample, report.Busy) // it had no core to itself
	return sample, err
}
