//go:build e2e

package integration

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
)

// upgradedTools is SDK v1's client with callToolStream, which answers what it is asked
// in mid-task. tools is whose plain tools it calls, by parts/clients/plain-tools.js.
func upgradedTools(tools string) driver {
	return func(t testing.TB) *exec.Cmd {
		return nodeCommand(t, filepath.Join(clientsDir, "upgraded-tools.js"), "--tools", tools)
	}
}

// goCoreTasks is the published Go client mcp-go, with the same tools.
func goCoreTasks(tools string) driver {
	return func(t testing.TB) *exec.Cmd { return exec.Command(built(t, "coretasks"), "--tools", tools) }
}

// legacyServer is a server with sessions, and tools that its clients get tasks of.
type legacyServer struct {
	name  string
	tools string // in the drivers
	fleet func(t testing.TB, n int) fleet
	rules string

	// arrivals says that its tools are counted where they are called, not where they end.
	arrivals bool
}

// legacyServers are those that the drivers know tools of.
var legacyServers = []legacyServer{
	{
		name: "SDK v1's interactive tools", tools: "interactive", rules: suiteLikeRules,
		fleet: func(t testing.TB, n int) fleet { return interactiveFleet(t, n, exampleReplays) },
	},
	{
		name: "SDK v1 that refuses what it cannot replay", tools: "interactive", rules: suiteLikeRules,
		fleet: func(t testing.TB, n int) fleet { return interactiveFleet(t, n, strictReplays) },
	},
	{
		name: "server-everything", tools: "everything", rules: everythingRules,
		fleet: func(t testing.TB, n int) fleet { return everythingFleet(t, n) },
	},
	{
		name: "go-sdk with events", tools: "taskless", rules: suiteLikeRules,
		fleet: func(t testing.TB, n int) fleet { return sessionsFleet(t, n, true) },
	},
	{
		name: "a plain slow server", tools: "taskless", rules: suiteLikeRules,
		fleet: func(t testing.TB, n int) fleet { return sessionsFleet(t, n, false) },
	},
	{
		name: "go-sdk's fixture", tools: "fixture", rules: fixtureRules, arrivals: true,
		fleet: func(t testing.TB, n int) fleet { return goFleet(t, n, true).counted(t) },
	},
}

// Rules that name the plain tools that the drivers call. One tool is for tasks alone.
const (
	suiteLikeRules = `
[[upgrade]]
tools = ["slow_compute", "confirm_delete", "multi_input", "write_haiku", "interrupted_job"]
poll_interval = "100ms"

[[upgrade]]
tools = ["failing_job", "protocol_error_job"]
required = true
poll_interval = "100ms"
`
	everythingRules = `
[[upgrade]]
tools = ["trigger-long-running-operation", "trigger-elicitation-request", "trigger-sampling-request"]
poll_interval = "100ms"

[[upgrade]]
tools = ["get-resource-reference"]
required = true
poll_interval = "100ms"
`
	fixtureRules = `
[[upgrade]]
tools = ["test_*"]
poll_interval = "100ms"
`
)

// coreClients are real clients that make calls of several kinds in turn; one in so many
// is cancelled. The first makes one of each in a session, the other one call in each.
var coreClients = []struct {
	name   string
	driver func(tools string) driver
	kinds  map[string]int
}{
	{"TypeScript SDK v1", upgradedTools, map[string]int{"interactive": 7, "taskless": 5, "everything": 5, "fixture": 5}},
	{"mcp-go", goCoreTasks, map[string]int{"interactive": 6, "taskless": 5, "everything": 5, "fixture": 5}},
}

// coreRounds is how often a client makes a call of each kind, all at once.
const coreRounds = 4

func TestLegacyClientsOfPlainTools(t *testing.T) {
	for _, shared := range []bool{false, true} {
		for _, server := range legacyServers {
			for _, client := range coreClients {
				calls := coreRounds * client.kinds[server.tools]
				t.Run(fmt.Sprintf("%s/%s/%s", frontName(shared), server.name, client.name), func(t *testing.T) {
					t.Parallel()
					const attempts = 3
					for attempt := 1; ; attempt++ {
						fleet := server.fleet(t, 3)
						url, berths := server.front(t, fleet, shared)
						got := drive(t, client.driver(server.tools), url, calls)
						t.Logf("%v", got)
						if attempt == attempts || !storeWasLate(berths) {
							got.wantAllRight(t)
							server.wantOnce(t, fleet, calls, coreRounds)
							wantUpgraded(t, berths)
							return
						}
						t.Log("the store was late: once more")
					}
				})
			}
		}
	}
}

func frontName(shared bool) string {
	if shared {
		return "three berths"
	}
	return "one berth"
}

// front starts one berth before a fleet, or three on one Redis, any of which gets a
// request.
func (s legacyServer) front(t testing.TB, f fleet, shared bool) (url string, berths []*berth) {
	t.Helper()
	config := configFile(t, s.rules)
	if !shared {
		one := startBerth(t, f, "--config", config)
		return one.url(), []*berth{one}
	}
	var urls []string
	store := redisStore(t)
	for range 3 {
		b := startBerth(t, f, "--config", config, "--store", store)
		berths, urls = append(berths, b), append(urls, b.url())
	}
	return atRandom(t, urls), berths
}

// wantOnce fails the test unless the fleet ran what was called, once each. A call that is
// cancelled may be so before it is sent.
func (s legacyServer) wantOnce(t testing.TB, f fleet, calls, cancelled int) {
	t.Helper()
	if !await(t, readyWithin, func() bool { return f.sum(t, stats.running) == 0 }) {
		t.Error("tools of cancelled calls still run, want them stopped")
	}
	ended, cut, least := f.sum(t, stats.toolCalls), f.sum(t, stats.cutOff), calls-cancelled
	most := least
	if s.arrivals {
		most = calls
	}
	if ended < least || ended > most || cut > cancelled {
		t.Errorf("tools run by the fleet: got %d to their end and %d cut off, want %d to %d and at most %d", ended, cut, least, most, cancelled)
	}
	if got := f.sum(t, stats.repeats); got != 0 {
		t.Errorf("calls that came twice: got %d, want none", got)
	}
}

// What the drivers want is berth's doing: from the servers themselves they get no task.
func TestLegacyClientsGetNoTasksWithoutBerth(t *testing.T) {
	for _, server := range legacyServers {
		if server.tools == "interactive" && server.name != legacyServers[0].name {
			continue // the same tools
		}
		for _, client := range coreClients {
			t.Run(server.name+"/"+client.name, func(t *testing.T) {
				t.Parallel()
				calls := client.kinds[server.tools]
				if got := drive(t, client.driver(server.tools), server.fleet(t, 1)[0].url(), calls); got.Right != 0 {
					t.Errorf("without berth: got %v, want none right", got)
				}
			})
		}
	}
}

// The Inspector's command line makes tasks only of tools that are for tasks alone.
func TestInspectorRunsPlainToolsAsCoreTasks(t *testing.T) {
	server := legacyServers[0]
	server.rules = "[[upgrade]]\ntools = [\"slow_compute\"]\nrequired = true\npoll_interval = \"100ms\"\n"
	for _, shared := range []bool{false, true} {
		t.Run(frontName(shared), func(t *testing.T) {
			t.Parallel()
			fleet := server.fleet(t, 3)
			url, berths := server.front(t, fleet, shared)

			var result toolResult
			inspect(t, &result, url, "legacy", "--method", "tools/call",
				"--tool-name", "slow_compute", "--tool-args-json", `{"seconds":0.5,"label":"inspected"}`)
			result.wantText(t, "inspected done")

			var load struct{ Requests, OK int }
			inspect(t, &load, url, "legacy", "--method", "tools/call",
				"--tool-name", "slow_compute", "--tool-args-json", `{"seconds":0.2,"label":"load"}`,
				"--load", "--load-concurrency", "10", "--load-requests", "50")
			if load.OK != 50 {
				t.Errorf("load: got %d of %d calls right, want 50 of 50", load.OK, load.Requests)
			}
			fleet.wantToolCalls(t, 51)
			wantUpgraded(t, berths)
		})
	}
}

// wantUpgraded fails the test unless each berth answered for tasks of its own.
func wantUpgraded(t testing.TB, berths []*berth) {
	t.Helper()
	for i, b := range berths {
		if sources := b.count(func(r record) string { return r.Source }); sources["upgraded"] == 0 {
			t.Errorf("berth %d: sources of answers: got %v, want some upgraded", i, sources)
		}
	}
}
