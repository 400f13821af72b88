//go:build e2e

package integration

import (
	"strings"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// The load of a rolling deploy, as two cores that others share bear it.
const (
	deployCalls    = 10  // clients that call a plain tool, one call after another
	deployTasks    = 100 // live tasks at a time
	deploySessions = 50
	deployStreams  = 100 // half of them of the sessions, half subscriptions
)

// drainingPair is two berths on one Redis, with admin listeners.
func drainingPair(t testing.TB, f fleet, config string) (pair []*berth, admins []string) {
	t.Helper()
	redis := redistest.Start(t)
	for range 2 {
		admin := freeAddress(t)
		pair = append(pair, startBerth(t, f, "--config", configFile(t, config), "--store", redis.URL(), "--admin", admin))
		admins = append(admins, admin)
	}
	return pair, admins
}

// Three instances are drained, killed and started anew, one after the other, by orders to one of two
// berths, while clients of all kinds go on through both: nothing is lost, and nothing fails.
func TestRollingDeployLosesNothing(t *testing.T) {
	t.Parallel()
	fleet := startProcesses(t, "a", "b", "c")
	berths, admins := drainingPair(t, fleet, "[[pools]]\nsession_failover = \"reinit\"\n")
	d := startDeployLoad(t, []string{berths[0].url(), berths[1].url()})
	if !await(t, readyWithin, d.settled) {
		t.Fatalf("the load did not come to be: %v", d)
	}
	d.measure()
	for i, name := range []string{"a", "b", "c"} {
		began := time.Now()
		got := runBerth(t, "drain", "default/"+name, "--wait", "--move-sessions", "--timeout", "40s", "--admin", admins[i%2])
		if got.code != 0 {
			t.Fatalf("drain of %s: code %d\n%s%s", name, got.code, got.stdout, got.stderr)
		}
		lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
		t.Logf("%s may stop after %v, %d lines: first %q, last %q", name, time.Since(began).Round(time.Millisecond), len(lines), lines[0], lines[len(lines)-1])
		fleet[i].kill()
		fleet[i] = fleet[i].anew(t)
		if got := runBerth(t, "undrain", "default/"+name, "--admin", admins[(i+1)%2]); got.code != 0 {
			t.Fatalf("undrain of %s: code %d\n%s", name, got.code, got.stderr)
		}
	}
	d.end(t)
}
