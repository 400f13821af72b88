package proxy_test

import (
	"testing"
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
