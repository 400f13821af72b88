//go:build linux && e2e

package main

import (
	"slices"
	"testing"
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/report"
	"berth/integration/bench/upstream"
)

// Whatever is compared starts, with its configuration, and does what it is measured at. How fast, nobody asks here.
func TestEachContenderDoesItsWork(t *testing.T) {
	b, err := prepare(options{connections: 2, streams: 1, duration: 50 * time.Millisecond, warmUp: time.Millisecond}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("upgraded calls come to their ends", func(t *testing.T) { upgradedCallsEnd(t, b) })
	for _, k := range kinds() {
		if k.prepare == nil { // it begins with other work than an op
			k.prepare = calls(upstream.Echo)
		}
		for _, c := range b.present(k) {
			t.Run(k.name+", "+c.Name(), func(t *testing.T) { works(t, b, k, c) })
		}
	}
}

func works(t *testing.T, b *bench, k kind, c contender.Contender) {
	proxy, err := contender.Start(c, b.site)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Stop()
	clients, err := b.connect(proxy)
	defer clients.close()
	if err != nil {
		t.Fatal(err)
	}
	ops, err := clients.ops(k, c)
	if err != nil {
		t.Fatal(err)
	}
	_, told, err := proxy.Allocations(func() error {
		for _, op := range ops {
			if n, err := op(); err != nil || n == 0 {
				t.Errorf("got %d units, %v", n, err)
			}
		}
		return nil
	})
	if err != nil || told != slices.Contains([]string{contender.Berth, contender.ReverseProxy, contender.Passthrough}, c.Product) {
		t.Errorf("allocations: told %v, %v", told, err)
	}
}

// What is measured of calls that become tasks is a task's whole life, and of held calls that they are held.
func upgradedCallsEnd(t *testing.T, b *bench) {
	proxy, err := contender.Start(upgraded, b.site)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Stop()
	sample, err := b.measureUpgraded(kind{}, upgraded, proxy)
	if err != nil || sample[report.CPU] <= 0 {
		t.Errorf("got %v, %v", sample, err)
	}
	if _, err := b.makeTasks(proxy, upstream.Hold, 20); err != nil {
		t.Fatal(err)
	}
	if err := await("calls held", 20, finishing, b.fleet.Held); err != nil {
		t.Error(err)
	}
}
