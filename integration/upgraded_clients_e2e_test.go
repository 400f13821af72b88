//go:build e2e

package integration

import (
	"slices"
	"strconv"
	"testing"
)

// upgradedClient is a real client that calls tools of the taskless server: calls of several
// kinds in turn, one of which asks back once and one of which is cancelled.
type upgradedClient struct {
	name   string
	driver driver
	kinds  int
}

var upgradedClients = []upgradedClient{
	{"TypeScript client with ext-tasks", extensionTasks, 4},
	{"Go client trpc-mcp-go", goTasks, 3},
}

// upgradedFronts are where those clients go: one berth, or any of three.
var upgradedFronts = []struct {
	name  string
	start func(t testing.TB, f fleet) (url string, berths []*berth)
}{
	{"one berth", func(t testing.TB, f fleet) (string, []*berth) {
		one := upgrader(t, f, "memory:")
		return one.url(), []*berth{one}
	}},
	{"three berths", func(t testing.TB, f fleet) (string, []*berth) {
		three := startUpgraders(t, f)
		return three.url, three.berths[:]
	}},
}

// storeWasLate reports whether a berth had to turn somebody away because its store did not
// answer in time. Nothing befalls stores here: the machine was busy elsewhere for a quarter
// of a second, and clients do not come again.
func storeWasLate(berths []*berth) bool {
	const unavailable = -31503
	return slices.ContainsFunc(berths, func(b *berth) bool {
		return b.count(func(r record) string { return strconv.Itoa(r.Code) })[strconv.Itoa(unavailable)] > 0
	})
}

// upgradedCalls is how many calls each client makes, all at once: as many as Redis takes
// on a busy machine within the quarter of a second that a call waits for it.
const upgradedCalls = 24

func TestClientsOfUpgradedTools(t *testing.T) {
	for _, front := range upgradedFronts {
		for _, client := range upgradedClients {
			for _, answers := range []answers{jsonAnswers, sseAnswers} {
				t.Run(front.name+"/"+client.name+"/"+string(answers), func(t *testing.T) {
					t.Parallel()
					const attempts = 3
					for attempt := 1; ; attempt++ {
						fleet := tasklessFleet(t, 3, answers)
						url, berths := front.start(t, fleet)
						got := drive(t, client.driver, url, upgradedCalls)
						t.Logf("%v", got)
						if attempt == attempts || !storeWasLate(berths) {
							client.wantRight(t, fleet, got)
							return
						}
						t.Log("the store was late: once more")
					}
				})
			}
		}
	}
}

// wantRight fails the test unless all calls came out right, and the fleet ran just them.
func (c upgradedClient) wantRight(t testing.TB, f fleet, got report) {
	t.Helper()
	got.wantAllRight(t)
	f.wantAllAtWork(t, stats.toolCalls)
	f.wantRounds(t, upgradedCalls, upgradedCalls/c.kinds)
}

// With after one client sees it all: plain answers, questions in answers, and tasks.
func TestClientOfToolsThatAreUpgradedWhenTheyAreSlow(t *testing.T) {
	t.Parallel()
	fleet := tasklessFleet(t, 3, sseAnswers)
	rules := configFile(t, `
[[upgrade]]
tools = ["slow_compute", "failing_job", "confirm_delete"]
after = "250ms"
poll_interval = "100ms"
`)
	berth := startBerth(t, fleet, "--config", rules)
	drive(t, extensionTasks, berth.url(), upgradedCalls).wantAllRight(t)
	fleet.wantRounds(t, upgradedCalls, upgradedCalls/4)
}

// wantRounds fails the test unless the fleet ran just what was called: so many calls, of
// which some asked back once and as many were cancelled before their end.
func (f fleet) wantRounds(t testing.TB, calls, some int) {
	t.Helper()
	f.wantToolCalls(t, calls-some)
	if got := f.sum(t, stats.questions); got != some {
		t.Errorf("rounds that asked back: got %d, want %d", got, some)
	}
	if got := f.sum(t, stats.repeats); got != 0 {
		t.Errorf("rounds that came twice: got %d, want none", got)
	}
	if !await(t, readyWithin, func() bool { return f.sum(t, stats.running) == 0 }) {
		t.Error("tools of cancelled calls still run, want them stopped")
	}
}

func TestInspectorRunsUpgradedTools(t *testing.T) {
	for _, front := range upgradedFronts {
		t.Run(front.name, func(t *testing.T) {
			t.Parallel()
			fleet := tasklessFleet(t, 3, sseAnswers)
			url, _ := front.start(t, fleet)

			var result toolResult
			inspect(t, &result, url, "modern", "--method", "tools/call",
				"--tool-name", "slow_compute", "--tool-args-json", `{"seconds":0.5,"label":"inspected"}`)
			result.wantText(t, "inspected done")
			fleet.wantToolCalls(t, 1)

			var load struct{ Requests, OK int }
			inspect(t, &load, url, "modern", "--method", "tools/call",
				"--tool-name", "slow_compute", "--tool-args-json", `{"seconds":0.2,"label":"load"}`,
				"--load", "--load-concurrency", "10", "--load-requests", "100")
			if load.OK != 100 {
				t.Errorf("load: got %d of %d calls right, want 100 of 100", load.OK, load.Requests)
			}
			fleet.wantToolCalls(t, 101)
		})
	}
}
