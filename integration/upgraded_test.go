package integration

import "testing"

// suiteRules turn the taskless server's tools into what the suite expects of them.
// The second round of test_tool_with_task takes three seconds, its first one none. That
// calls are refused where the store is late keeps that from looking like a plain answer.
const suiteRules = `
[[upgrade]]
tools = ["slow_compute"]
after = "0s"
poll_interval = "100ms"
on_store_down = "refuse"

[[upgrade]]
tools = ["confirm_delete", "multi_input", "failing_job", "protocol_error_job"]
after = "0s"
required = true
poll_interval = "100ms"

[[upgrade]]
tools = ["test_tool_with_task"]
after = "2s"
`

// upgrader starts berth with those rules.
func upgrader(t testing.TB, f fleet, store string) *berth {
	t.Helper()
	return startBerth(t, f, "--config", configFile(t, suiteRules), "--store", store)
}

// wantTaskScenarios fails the test unless the suite says of url what it says of a
// server with tasks of its own, and nothing but that all is well.
func wantTaskScenarios(t testing.TB, url string) {
	t.Helper()
	set := tasksSet("tasks-json")
	wantTaskVerdicts(t, set, runSuite(t, set, url))
}

func wantTaskVerdicts(t testing.TB, set scenarioSet, verdicts []check) {
	t.Helper()
	wantGolden(t, set, verdicts)
	for _, verdict := range verdicts {
		if verdict.Status != "SUCCESS" && verdict.Status != "SKIPPED" {
			t.Errorf("%v: %s", verdict, verdict.ErrorMessage)
		}
	}
}

// Behind berth, a server that knows nothing of tasks passes all that the suite can run
// of them; what it skips stands in the golden verdicts, with its reason.
func TestTasklessServerPassesTheTaskScenarios(t *testing.T) {
	t.Parallel()
	fleet := tasklessFleet(t, 3, sseAnswers)
	wantTaskScenarios(t, upgrader(t, fleet, "memory:").url())
	fleet.wantAllAtWork(t, stats.posts)
}
