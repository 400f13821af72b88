//go:build linux

package main

import (
	"errors"
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/report"
)

// measureLoops has a proxy's clients do the same work as often as they can, and then at a fixed rate.
func (b *bench) measureLoops(k kind, c contender.Contender, proxy *contender.Running) (report.Sample, error) {
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
	if c.Watched {
		end, err := b.watch(proxy)
		if err != nil {
			return nil, err
		}
		defer end()
	}
	sample := make(report.Sample)
	if err := b.saturate(proxy, func() load.Result { return load.Saturate(ops, b.duration) }, sample); err != nil {
		return nil, err
	}
	if err := b.pace(proxy, ops, k.pace*b.rate, sample); err != nil {
		return nil, err
	}
	return sample, noteResident(proxy, sample)
}

// noteResident takes the memory that a proxy has in the end.
func noteResident(proxy *contender.Running, sample report.Sample) error {
	bytes, err := resident(proxy)
	if proxy.PID() != 0 {
		sample[report.Resident] = mebi(bytes)
	}
	return err
}

// saturate measures a loop that does what it can.
func (b *bench) saturate(proxy *contender.Running, loop func() load.Result, sample report.Sample) error {
	polls, misrouted := b.fleet.Polls()
	var result load.Result
	var spent time.Duration
	allocations, told, err := proxy.Allocations(func() (err error) {
		spent, err = during(proxy, func() error {
			result = loop()
			return result.Err
		})
		return err
	})
	if err != nil {
		return err
	}
	if told {
		sample[report.Allocs] = allocations / float64(result.Units)
	}
	if polled, wrong := b.fleet.Polls(); polled > polls {
		sample[report.Misrouted] = float64(wrong-misrouted) / float64(polled-polls)
	}
	sample[report.PerSecond] = float64(result.Units) / result.Took.Seconds()
	sample[report.P50] = micros(report.Quantile(result.Latencies, 0.5))
	sample[report.P99] = micros(report.Quantile(result.Latencies, 0.99))
	if proxy.PID() != 0 {
		sample[report.CPU] = micros(spent) / float64(result.Units)
		sample[report.Busy] = spent.Seconds() / result.Took.Seconds()
	}
	return nil
}

// pace measures the open loop.
func (b *bench) pace(proxy *contender.Running, ops []load.Op, rate float64, sample report.Sample) error {
	var result load.Result
	spent, err := during(proxy, func() (err error) {
		result, err = load.Pace(ops, rate, b.duration)
		return errors.Join(err, result.Err)
	})
	if err != nil {
		return err
	}
	sample[report.PacedP50] = micros(report.Quantile(result.Latencies, 0.5))
	sample[report.PacedP99] = micros(report.Quantile(result.Latencies, 0.99))
	if proxy.PID() != 0 {
		sample[report.PacedCPU] = micros(spent) / float64(result.Units)
	}
	return nil
}
