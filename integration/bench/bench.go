//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/proc"
	"berth/integration/bench/report"
	"berth/integration/bench/upstream"
)

// bench is one run of the benchmark.
type bench struct {
	options
	site     contender.Site
	fleet    *upstream.Fleet
	progress io.Writer
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

func (b *bench) tell(k kind, c contender.Contender, round int, sample report.Sample, err error) {
	if err != nil {
		fmt.Fprintf(b.progress, "%s, %s, round %d: failed: %v\n", k.name, c.Name(), round+1, err)
		return
	}
	fmt.Fprintf(b.progress, "%s, %s, round %d: %.1f µs, %.0f a second\n", k.name, c.Name(), round+1, sample[report.CPU], sample[report.PerSecond])
}

// measure takes one sample of a contender that was just started.
func (b *bench) measure(k kind, c contender.Contender) (report.Sample, error) {
	proxy, err := contender.Start(c, b.site)
	if err != nil {
		return nil, err
	}
	defer proxy.Stop()
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
	if err := b.saturate(proxy, ops, sample); err != nil {
		return nil, err
	}
	if err := b.pace(proxy, ops, k.share*b.rate, sample); err != nil {
		return nil, err
	}
	return sample, b.remember(proxy, sample)
}

// saturate measures the closed loop.
func (b *bench) saturate(proxy *contender.Running, ops []load.Op, sample report.Sample) error {
	polls, misrouted := b.fleet.Polls()
	allocations, told, err := proxy.Allocations()
	if err != nil {
		return err
	}
	spent, result, err := cost(proxy, func() (load.Result, error) { return load.Saturate(ops, b.duration), nil })
	if err != nil {
		return err
	}
	if told {
		after, _, err := proxy.Allocations()
		if err != nil {
			return err
		}
		sample[report.Allocs] = (after - allocations) / float64(result.Units)
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
	spent, result, err := cost(proxy, func() (load.Result, error) { return load.Pace(ops, rate, b.duration) })
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

// cost is the CPU time that the proxy spent while the load ran.
func cost(proxy *contender.Running, run func() (load.Result, error)) (time.Duration, load.Result, error) {
	before, err := spent(proxy)
	if err != nil {
		return 0, load.Result{}, err
	}
	result, err := run()
	if err == nil {
		err = result.Err
	}
	if err != nil {
		return 0, result, err
	}
	after, err := spent(proxy)
	return after - before, result, err
}

func spent(proxy *contender.Running) (time.Duration, error) {
	if proxy.PID() == 0 {
		return 0, nil
	}
	return proc.CPU(proxy.PID())
}

// remember notes the proxy's memory.
func (b *bench) remember(proxy *contender.Running, sample report.Sample) error {
	if proxy.PID() == 0 {
		return nil
	}
	bytes, err := proc.Resident(proxy.PID())
	sample[report.Resident] = float64(bytes) / (1 << 20)
	return err
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// clients are the connections of a measurement.
type clients []*load.Conn

// callers are the addresses that the clients come from: a proxy that bounds what one caller may do sees several.
const callers = 16

func (b *bench) connect(proxy *contender.Running) (clients, error) {
	var all clients
	for i := range b.connections {
		conn, err := load.Dial(proxy.Addresses[i%len(proxy.Addresses)], net.IPv4(127, 0, 1, byte(1+i%callers)))
		if err != nil {
			return all, err
		}
		all = append(all, conn)
	}
	return all, nil
}

func (c clients) ops(k kind, to contender.Contender) ([]load.Op, error) {
	var all []load.Op
	for _, conn := range c {
		op, err := k.prepare(conn, to)
		if err != nil {
			return nil, fmt.Errorf("preparing %s: %w", k.name, err)
		}
		all = append(all, op)
	}
	return all, nil
}

func (c clients) close() {
	for _, conn := range c {
		conn.Close()
	}
}
