//go:build e2e

package integration

import "testing"

// calls is how many messages of a method reached the fleet.
func (l *localFleet) calls(method string) int {
	sum := 0
	for _, s := range l.servers {
		sum += s.Calls(method)
	}
	return sum
}

// wantExecutions fails the test unless the fleet ran that many tools: a tool more was
// run twice.
func (l *localFleet) wantExecutions(t testing.TB, want int) {
	t.Helper()
	got := 0
	for _, s := range l.servers {
		got += s.Executions()
	}
	if got != want {
		t.Errorf("tools run by the fleet: got %d, want %d", got, want)
	}
}
