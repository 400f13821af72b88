//go:build e2e

package integration

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/drain"
	"berth/internal/storage/redistest"
)

// The load of a rolling deploy, as two cores that others share bear it.
const (
	deployCalls    = 10  // clients that call a plain tool, one call after another
	deployTasks    = 200 // live tasks at a time
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

// What is left is told at the deadline, by all berths alike, and the mark outlives the berths.
func TestDrainTellsWhatIsLeft(t *testing.T) {
	t.Parallel()
	fleet := startProcesses(t, "a", "b")
	berths, admins := drainingPair(t, fleet, "[[pools]]\npicker = \"round-robin\"\nsession_failover = \"notfound\"\n")
	client := newModernClient(t)
	for range 4 {
		client.create(t, berths[0].url(), 50)
	}
	got := runBerth(t, "drain", "default/a", "--wait", "--timeout", "4s", "--admin", admins[0])
	if got.code != 3 || !strings.Contains(got.stdout, "slow_compute") || !strings.Contains(got.stderr, "left: 2 tasks") {
		t.Errorf("with two tasks left: code %d, want 3, these, and the tool\n%s%s", got.code, got.stdout, got.stderr)
	}
	var told [2]drain.Status
	for i := range told {
		got := runBerth(t, "upstreams", "default/a", "--json", "--admin", admins[i])
		if err := json.Unmarshal([]byte(got.stdout), &told[i]); err != nil || got.code != 0 {
			t.Fatalf("upstreams: code %d, %v\n%s%s", got.code, err, got.stdout, got.stderr)
		}
		if !told[i].Draining || told[i].Drained || told[i].Berths != 2 || told[i].Heeding != 2 || len(told[i].Items) == 0 {
			t.Errorf("berth %d tells %+v", i, told[i])
		}
	}
	if told[0].Left != told[1].Left || told[0].Since != told[1].Since || !slices.Equal(told[0].Items, told[1].Items) {
		t.Errorf("the berths tell different things: %+v and %+v", told[0], told[1])
	}
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"nobody of that name": {[]string{"drain", "default/nobody", "--admin", admins[0]}, 1},
		"no session moves":    {[]string{"drain", "default/a", "--move-sessions", "--admin", admins[0]}, 1},
		"no name":             {[]string{"drain", "default", "--admin", admins[0]}, 2},
		"nobody there":        {[]string{"undrain", "default/a", "--admin", freeAddress(t)}, 4},
	} {
		if got := runBerth(t, c.args...); got.code != c.want {
			t.Errorf("%s: code %d, want %d\n%s", name, got.code, c.want, got.stderr)
		}
	}
}

// A call that a berth holds there for a task is in the way of a stop; one that is not sent yet is not.
func TestDrainWaitsForHeldCalls(t *testing.T) {
	t.Parallel()
	fleet := startProcesses(t, "a", "b")
	berths, admins := drainingPair(t, fleet, "[[pools]]\npicker = \"round-robin\"\n[[upgrade]]\ntools = [\"slow_compute\"]\nconcurrency = 1\n")
	client := newModernClient(t)
	var ids []string
	for range 6 { // two of them run, the others wait in line
		ids = append(ids, client.create(t, berths[0].url(), 3).TaskID)
	}
	if got := runBerth(t, "drain", "default/a", "--wait", "--timeout", "20s", "--admin", admins[1]); got.code != 0 || !strings.Contains(got.stdout, "1 held call") {
		t.Errorf("with a held call there: code %d, want 0 and that call\n%s%s", got.code, got.stdout, got.stderr)
	}
	fleet[0].kill()
	for _, id := range ids {
		if !await(t, 30*time.Second, func() bool { return client.get(t, berths[1].url(), id).Status == "completed" }) {
			t.Errorf("task %s: %+v", id, client.get(t, berths[1].url(), id))
		}
	}
}
