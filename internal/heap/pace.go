// Package heap paces the garbage collector. Go collects a heap each time it has doubled, so one of a few MiB, as a proxy of small
// requests has, is collected dozens of times a second, at a tenth of the proxy's CPU time. The price is memory: up to
// room more than Go would take.
package heap

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	room        = 32 << 20 // bytes that are allocated, at least, from one collection to the next
	goPercent   = 100      // GOGC's default, which heaps above room have
	percentStep = 10       // changes below a tenth are not worth a stop of the world
)

// Pace lets at least room bytes be allocated between two collections, from the first one on. GOMEMLIMIT bounds
// that, and where GOGC is set it alone decides.
func Pace() {
	if os.Getenv("GOGC") == "" {
		afterNext(goPercent)
	}
}

// afterNext has the percentage adjusted after the next collection, and so on.
func afterNext(current int) { runtime.AddCleanup(new([16]byte), adjust, current) }

func adjust(current int) {
	want := percent(live())
	if want < current-current/percentStep || want > current+current/percentStep {
		debug.SetGCPercent(want)
		current = want
	}
	afterNext(current)
}

// percent is what GOGC must be for live bytes to be collected no sooner than after room more.
func percent(live uint64) int {
	return int(max(room*100/max(live, 1), goPercent))
}

// live is what the percentage counts from: what the last collection left, stacks and globals.
func live() uint64 {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}
	metrics.Read(samples)
	var sum uint64
	for _, s := range samples {
		sum += s.Value.Uint64()
	}
	return sum
}
