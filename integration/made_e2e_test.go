//go:build e2e

package integration

import "testing"

// tasksMade makes n tasks that will not end during the test, some at a time.
func tasksMade(t testing.TB, client *modernClient, url string, n int) []string {
	t.Helper()
	ids := make([]string, n)
	crowd(t, n, 8, func(i int) {
		got, err := client.send(t, url, "tools/call", "slow_compute", slowCompute(3600))
		if err != nil || got.Result.TaskID == "" {
			t.Errorf("creating: got %v, %v, want a task", got, err)
			return
		}
		ids[i] = got.Result.TaskID
	})
	if t.Failed() {
		t.FailNow()
	}
	return ids
}
