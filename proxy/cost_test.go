package proxy_test

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"berth/internal/h1/h1test"
)

// allocations are the most that a request may cost between HTTP's two sides: its head's string is the server's, its
// answer's the client's. Lower them as the cost falls.
var allocations = map[string]float64{
	"poll":     1, // what others wait for who ask the same
	"call":     2,
	"creation": 25,
	"list":     1,
	"events":   31, // fifty of them
}

func TestWhatARequestCosts(t *testing.T) {
	if underRace {
		t.Skip("the race detector has pools forget")
	}
	for name, most := range allocations {
		t.Run(name, func(t *testing.T) {
			p, c := lentBerth(t), lentCases[name]()
			serveLent(t, p, newLentClient("tools/call", "bind", `"name":"bind","arguments":{}`))
			if n := testing.AllocsPerRun(200, func() { serveLent(t, p, c) }); n > most {
				t.Errorf("%v allocations, want at most %v", n, most)
			}
		})
	}
}

// An event that goes down a standing stream allocates nothing between two sockets. No goroutine is made for it, whose stack would have to
// grow.
func TestWhatAnEventOfAStandingStreamCosts(t *testing.T) {
	if underRace || h1test.ByNetHTTP() || runtime.GOOS != "linux" {
		t.Skip("the race detector has pools forget, net/http allocates, and others have no lookout")
	}
	streams, room := openStreams(t, 4), make([]byte, 1<<10)
	next := 0
	tell := func() {
		streams[next%len(streams)].tell(t, room)
		next++
	}
	for range 3 * len(streams) { // until all are always seen
		tell()
	}
	const events = 500
	before := goroutinesMade()
	if n := testing.AllocsPerRun(events, tell); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
	if n := goroutinesMade() - before; n > events/5 { // by whatever else goes on
		t.Errorf("%d goroutines were made for %d events", n, events)
	}
}

// goroutinesMade is how many there have been in this process.
func goroutinesMade() uint64 {
	made := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(made)
	return made[0].Value.Uint64()
}
