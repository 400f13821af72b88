//go:build e2e

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A new berth is started while the old one drains: it waits, takes no clients meanwhile,
// and then knows all that the old one knew.
func TestASecondBerthWaitsForTheFile(t *testing.T) {
	t.Parallel()
	greetings := newGate("greet")
	fleet := startLocalFleet(t, greetings.hold)
	store := fileStore(t)
	client := newModernClient(t)
	first := startWatched(t, fleet.fleet, "--store", store)
	told := makeTasks(t, client, first, 20)
	answers := greet(t, client, first, 1)
	if !await(t, readyWithin, func() bool { return fleet.calls("tools/call") == len(told)+1 }) {
		t.Fatal("the call that holds the first berth up did not reach the fleet")
	}
	first.signal(t, syscall.SIGTERM)

	address, admin := freeAddress(t), freeAddress(t)
	second := &watched{admin: "http://" + admin, berth: &berth{base: "http://" + address}}
	second.process = start(t, "second berth", berthLine(fleet.fleet, "--listen", address, "--admin", admin, "--store", store))
	if !await(t, readyWithin, func() bool { return strings.Contains(second.output.String(), "waiting for it to end") }) {
		t.Fatal("the second berth does not say that it waits")
	}
	if second.accepts() {
		t.Error("the second berth takes clients that it cannot serve yet")
	}
	greetings.open()
	wantGreetings(t, answers, 1)
	first.awaitExit(t, drainDefault+lastWords)
	if !second.awaitListening(t, address) {
		t.Fatal("the second berth does not listen")
	}
	wantTasks(t, client, second.url(), told, askingAtOnce)
	if got := second.metric(t, "berth_asks_total"); got != 0 {
		t.Errorf("questions to the fleet: got %d, want none", got)
	}
}

// berthLine is a command line of a berth in front of a fleet.
func berthLine(f fleet, args ...string) *exec.Cmd {
	line := append([]string{"serve"}, args...)
	for _, i := range f {
		line = append(line, "--upstream", i.name+"="+i.url())
	}
	return exec.Command(berthBinary, line...)
}

// makeTasks makes n tasks through b and returns their ids.
func makeTasks(t testing.TB, client *modernClient, b *watched, n int) (told []string) {
	t.Helper()
	for range n {
		got, err := client.send(t, b.url(), "tools/call", "slow_compute", slowCompute(3600))
		if err != nil || got.Result.TaskID == "" {
			t.Fatalf("making a task: got %v, %v", got, err)
		}
		told = append(told, got.Result.TaskID)
	}
	return told
}

// An old berth that stays: the new one ends, and says which file and why.
func TestASecondBerthGivesUpOnTheFile(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	store := fileStore(t)
	first := startWatched(t, fleet.fleet, "--store", store)
	got := runBerth(t, "serve", "--config", configFile(t, `drain = "1ms"`), "--listen", freeAddress(t), "--upstream", somewhere, "--store", store)
	if got.code != 1 || !strings.Contains(got.stderr, store) || !strings.Contains(got.stderr, "another berth holds this file") {
		t.Errorf("got exit code %d and %q, want 1 and which file another berth holds", got.code, got.stderr)
	}
	wantTasks(t, newModernClient(t), first.url(), makeTasks(t, newModernClient(t), first, 1), askingAtOnce)
}

// A service manager that gives berth a directory need not tell it more.
func TestStateDirectoryIsWhereBindingsAreKept(t *testing.T) {
	directory := t.TempDir()
	t.Setenv("STATE_DIRECTORY", directory+":"+filepath.Join(directory, "second"))
	fleet := startLocalFleet(t, nil)
	b := startWatched(t, fleet.fleet)
	path := filepath.Join(directory, "berth.db")
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file: %v", err)
	}
	if !strings.Contains(b.output.String(), "no store is configured") || !strings.Contains(b.output.String(), "file:"+path) {
		t.Errorf("the log does not say where bindings are kept:\n%s", b.output.String())
	}
	config := "[[pools]]\n[[pools.upstreams]]\nurl = \"http://127.0.0.1:7101/mcp\"\n"
	if got := runBerth(t, "check", configFile(t, config)); !strings.Contains(got.stdout, "file:"+path) {
		t.Errorf("check: got %q, want it to name the file", got.stdout)
	}
	if got := runBerth(t, "check", configFile(t, "[store]\nurl = \"memory:\"\n"+config)); strings.Contains(got.stdout, path) {
		t.Errorf("check of a file that names a store: got %q, want nothing of another one", got.stdout)
	}
}

// A disk of one megabyte that fills up: nobody is refused, what was told is found, and
// when there is room all of it is on the disk.
func TestBerthOutlivesAFullDisk(t *testing.T) {
	t.Parallel()
	const enough = 4000 // more than the disk holds
	fleet := startLocalFleet(t, nil)
	client := newModernClient(t)
	directory := t.TempDir()
	b := startOnSmallDisk(t, fleet.fleet, directory)

	var told []string
	full := func() bool { return b.metric(t, "berth_store_errors_total", `reason="disk"`) > 0 }
	for len(told) < enough && !full() {
		told = append(told, makeTasks(t, client, b, 50)...)
	}
	if !full() {
		t.Fatalf("after %d tasks the disk is not full", len(told))
	}
	told = append(told, makeTasks(t, client, b, 50)...)
	wantTasks(t, client, b.url(), told, askingAtOnce)
	b.awaitReadyz(t, storeAway)

	if err := os.Remove(fmt.Sprintf("/proc/%d/root%s/ballast", b.command.Process.Pid, directory)); err != nil {
		t.Fatalf("making room: %v", err)
	}
	if !await(t, healedWithin, func() bool { return strings.Contains(b.output.String(), "store is back") }) {
		t.Error("the store did not come back")
	}
	if !await(t, healedWithin, func() bool { return strings.Contains(b.output.String(), `"left":0`) }) {
		t.Error("bindings made meanwhile were not written back")
	}
	wantTasks(t, client, b.url(), told, askingAtOnce)
	if got := b.metric(t, "berth_asks_total"); got != 0 {
		t.Errorf("questions to the fleet: got %d, want none", got)
	}
}

// startOnSmallDisk starts berth with its store on a disk of 1 MiB, mounted at directory
// in a namespace of its own, of which a file called ballast takes the larger part.
func startOnSmallDisk(t testing.TB, f fleet, directory string, args ...string) *watched {
	t.Helper()
	skipShort(t)
	const mount = `mount -t tmpfs -o size=1m tmpfs "$0" && head -c 700K /dev/zero >"$0/ballast" && exec "$@"`
	inside := []string{"--map-root-user", "--mount", "sh", "-c", mount, directory}
	if err := exec.Command("unshare", append(inside, "true")...).Run(); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	admin := freeAddress(t)
	p, address := listen(t, "berth", func(address string) *exec.Cmd {
		line := berthLine(f, append(args, "--listen", address, "--admin", admin, "--store", "file:"+filepath.Join(directory, "berth.db"))...)
		return exec.Command("unshare", append(inside, line.Args...)...)
	})
	b := &watched{admin: "http://" + admin, berth: &berth{process: p, base: "http://" + address}}
	await(t, readyWithin, func() bool { status, _ := fetch(t, b.admin+"/livez"); return status != 0 })
	return b
}
