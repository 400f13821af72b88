//go:build linux

package main

import (
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/proc"
)

// during is the CPU time that the proxy spends while f runs; none where there is no proxy.
func during(proxy *contender.Running, f func() error) (time.Duration, error) {
	before, err := spent(proxy)
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := spent(proxy)
	return after - before, err
}

func spent(proxy *contender.Running) (time.Duration, error) {
	if proxy.PID() == 0 {
		return 0, nil
	}
	return proc.CPU(proxy.PID())
}

// resident is the proxy's memory, in bytes; none where there is no proxy.
func resident(proxy *contender.Running) (int64, error) {
	if proxy.PID() == 0 {
		return 0, nil
	}
	return proc.Resident(proxy.PID())
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }
