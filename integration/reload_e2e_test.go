//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// files are two configurations that differ in all that can be changed while berth runs.
func (r *reloading) files() (one, other string) {
	one = "[log]\nlevel = \"info\"\n[limits]\nin_flight = 4000\npolls = \"9000/s\"\nbody = \"2MiB\"\n" +
		r.pool("picker = \"p2c\"\ntimeouts.read = \"9s\"\ntimeouts.connect = \"3s\"") +
		"[[upgrade]]\ntools = [\"work\"]\npoll_interval = \"50ms\"\n"
	other = "drain = \"7s\"\n[log]\nlevel = \"debug\"\naccess = false\n[limits]\nin_flight = 5000\nstreams = 1000\nconnections_per_address = 900\nkept_tasks = 5000\n" +
		r.pool("picker = \"round-robin\"\nejection.failures = 9\nbridge.idle = \"1m\"", r.anUpstream("x", 0)) +
		"[[pools]]\nname = \"second\"\npath = \"/second\"\n" + r.anUpstream("y", 1) +
		"[[upgrade]]\ntools = [\"w*\"]\nconcurrency = 7\npoll_interval = \"60ms\"\n[[upgrade]]\ntools = [\"other\"]\npool = \"second\"\n"
	return one, other
}

// Whatever is under way goes on through a hundred readings of files that differ in all that may, and
// faulty ones between; and what they made is gone afterwards.
func TestAHundredReloadsUnderLoadLoseNothing(t *testing.T) {
	t.Parallel()
	const reloads, tasks = 100, 30
	r := startReloading(t, func(r *reloading) string { one, _ := r.files(); return one })
	one, other := r.files()
	var ids, calls, works []string
	for i := range tasks {
		ids = append(ids, r.client.create(t, r.url(), 3600).TaskID)
		calls = append(calls, fmt.Sprintf("before-%d", i))
		works = append(works, r.make(t, calls[i]))
	}
	r.tool.awaitRuns(t, tasks)
	before := r.held(t)
	var heard []*heard
	var sessions []*standing
	for range 5 {
		heard, sessions = append(heard, hear(t, r.client, r.url(), ids)), append(sessions, r.stand(t))
	}
	polling := startLoad(t, r.client, r.watched, ids, 8)
	for _, s := range sessions {
		polling.workers.Go(func() { polling.repeat(func(int) { s.use(t, r.url()) }) })
	}
	polling.workers.Go(func() { polling.repeat(func(int) { r.list(t) }) })

	for i := range reloads {
		r.write(t, []string{other, one}[i%2])
		switch {
		case i%10 == 3:
			r.hangUp(t)
		case i%10 == 6:
			if got := r.verb(t); got.code != 0 || !strings.Contains(got.stdout, "needs a restart: drain") != (i%2 == 1) {
				t.Fatalf("berth reload: got %d %q %q", got.code, got.stdout, got.stderr)
			}
		default:
			if status, text := r.order(t); status != http.StatusOK {
				t.Fatalf("reading the file: got %d %s", status, text)
			}
		}
		if i%10 == 8 { // made in one generation, to end in another
			calls = append(calls, fmt.Sprintf("during-%d", i))
			works = append(works, r.make(t, calls[len(calls)-1]))
			r.write(t, "[limits]\nin_flight = \"many\"\n"+r.pool(""))
			if status, text := r.order(t); status != http.StatusUnprocessableEntity || !strings.Contains(text, "limits.in_flight") {
				t.Errorf("a faulty file: got %d %s", status, text)
			}
		}
		if t.Failed() {
			break
		}
	}
	polling.end(t)
	r.tool.letAll()
	for i, id := range works {
		r.wantDone(t, id, calls[i])
	}
	r.tool.wantNoneTwice(t)
	for i := range heard {
		var ended bool
		var agreed int
		heard[i].look(func() { ended, agreed = heard[i].ended, len(heard[i].agreed) })
		if ended || agreed != tasks || sessions[i].ended.Load() {
			t.Errorf("stream %d: ended: %v and %v, of %d tasks", i, ended, sessions[i].ended.Load(), agreed)
		}
	}
	if asked := r.metric(t, "berth_asks_total"); asked != 0 {
		t.Errorf("%d questions to the fleet: bindings were lost", asked)
	}
	wantTasks(t, r.client, r.url(), ids, askingAtOnce)
	for i := range sessions {
		sessions[i].end()
		sessions[i].http.CloseIdleConnections()
	}
	r.wantGone(t, before)
}

// wantGone fails the test unless what earlier readings have made is gone, once nobody uses it.
func (r *reloading) wantGone(t testing.TB, before held) {
	t.Helper()
	r.client.http.CloseIdleConnections()
	if transport, ok := r.client.http.Transport.(*http.Transport); ok {
		transport.CloseIdleConnections()
	}
	r.wantHeld(t, before, r.client)
}

// Whoever asks is told what is wrong, and where; what was in use stays.
func TestAFaultyFileIsToldAndNotUsed(t *testing.T) {
	t.Parallel()
	r := startReloading(t, func(r *reloading) string { return r.pool("") })
	if text := r.ready(t); !strings.Contains(text, "[+]config ok") {
		t.Errorf("readyz: got %s", text)
	}
	r.write(t, "\n[log]\nlevl = \"info\"\n"+r.pool("picker = \"best\""))
	got := r.verb(t)
	for _, want := range []string{r.file + ":3: log.levl: unknown key, did you mean level?", r.file + ":5: pools[0].picker"} {
		if got.code != 1 || !strings.Contains(got.stderr, want) {
			t.Errorf("berth reload: got %d %q, want 1 and %q", got.code, got.stderr, want)
		}
	}
	if text := r.ready(t); !strings.Contains(text, "[+]config degraded: ") || !strings.Contains(text, "log.levl") {
		t.Errorf("readyz: got %s", text)
	}
	if ok, failed, success := r.reloads(t, "ok"), r.reloads(t, "failed"), r.metric(t, "berth_config_reload_success"); ok != 0 || failed != 1 || success != 0 {
		t.Errorf("metrics: %d ok, %d failed, success %d", ok, failed, success)
	}
	if log := r.settled(); !strings.Contains(log, `"key":"log.levl"`) || !strings.Contains(log, `"line":3`) {
		t.Errorf("the log does not name key and line:\n%s", log)
	}
	r.list(t)
	if r.client.create(t, r.url(), 600).TaskID == "" {
		t.Error("nothing works any more")
	}

	// A file that it names is judged as well, and the whole is refused for it.
	r.write(t, "[log]\nlevel = \"debug\"\n"+r.pool("authorization = \"replace\"\nauthorization_value_file = \"/nowhere/value\""))
	if got := r.verb(t); got.code != 1 || !strings.Contains(got.stderr, r.file+":5: pools[0].authorization_value_file") {
		t.Errorf("a file that is not there: got %d %q", got.code, got.stderr)
	}

	r.write(t, r.pool("picker = \"round-robin\""))
	got = r.verb(t, "--json")
	var told struct{ Changed, Restart []string }
	if err := json.Unmarshal([]byte(got.stdout), &told); err != nil || fmt.Sprint(told.Changed) != "[pools.default.picker]" || told.Restart == nil || len(told.Restart) != 0 {
		t.Errorf("berth reload --json: got %d %q, %v", got.code, got.stdout, err)
	}
	if text := r.ready(t); !strings.Contains(text, "[+]config ok") {
		t.Errorf("readyz: got %s", text)
	}
	if r.metric(t, "berth_config_reload_success") != 1 {
		t.Error("metrics: no success")
	}
}

// A file that says so is read when it changes, also where a link is changed in its stead, as Kubernetes
// does with a ConfigMap.
func TestAFileIsWatched(t *testing.T) {
	t.Parallel()
	r := startReloading(t, func(r *reloading) string { return "watch = true\n" + r.pool("") })
	awaitLevel := func(n int) {
		t.Helper()
		if !await(t, readyWithin, func() bool { return r.reloads(t, "ok") == n }) {
			t.Fatalf("readings: got %d, want %d", r.reloads(t, "ok"), n)
		}
	}
	r.write(t, "watch = true\n[log]\nlevel = \"warn\"\n"+r.pool(""))
	awaitLevel(1)

	directory := filepath.Dir(r.file)
	place := func(n int, text string) { // ..data -> a directory of its own; the file is a link into ..data
		t.Helper()
		data := filepath.Join(directory, fmt.Sprintf("..%d", n))
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, "berth.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(directory, "..data_tmp")
		if err := os.Symlink(data, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(directory, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	place(1, "watch = true\n"+r.pool("picker = \"round-robin\""))
	link := r.file + ".link"
	if err := os.Symlink(filepath.Join(directory, "..data", "berth.toml"), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link, r.file); err != nil {
		t.Fatal(err)
	}
	awaitLevel(2)
	place(2, "watch = true\n"+r.pool("picker = \"p2c\""))
	awaitLevel(3)

	// In place, and faulty: it is told once, and taken once it is mended.
	if err := os.WriteFile(r.file, []byte("watch = true\n[[pools]]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !await(t, readyWithin, func() bool { return r.reloads(t, "failed") == 1 }) {
		t.Fatal("a faulty file is not told of")
	}
	time.Sleep(3 * time.Second)
	if n := r.reloads(t, "failed"); n != 1 {
		t.Errorf("a faulty file was read %d times", n)
	}
	place(3, "watch = false\n"+r.pool(""))
	awaitLevel(4)
	place(4, "watch = true\n"+r.pool("picker = \"round-robin\""))
	time.Sleep(3 * time.Second)
	if n := r.reloads(t, "ok"); n != 4 {
		t.Errorf("a file is read that is not to be watched")
	}
}

// Without a file there is nothing to read, and nothing ends for it.
func TestABerthWithoutAFileSaysSo(t *testing.T) {
	t.Parallel()
	r := &reloading{fleet: startLocalFleet(t, nil), client: newModernClient(t)}
	r.watched = startWatched(t, r.fleet.fleet)
	if got := r.verb(t); got.code != 1 || !strings.Contains(got.stderr, "started without --config") {
		t.Errorf("berth reload: got %d %q", got.code, got.stderr)
	}
	r.signal(t, syscall.SIGHUP)
	if !await(t, readyWithin, func() bool { return strings.Contains(r.output.String(), `"by":"SIGHUP"`) }) {
		t.Error("SIGHUP: nothing is said of it")
	}
	r.list(t)
	if got := runBerth(t, "reload", "--admin", freeAddress(t)); got.code != 4 {
		t.Errorf("no berth there: got %d %q, want 4", got.code, got.stderr)
	}
}

// Rules may come to a berth that had none, and go: what they made stays.
func TestRulesComeAndGo(t *testing.T) {
	t.Parallel()
	r := startReloading(t, func(r *reloading) string { return r.pool("") })
	r.tool.let("plain", "plain again")
	plain := func(call string) {
		t.Helper()
		got, err := r.client.send(t, r.url(), "tools/call", "work", map[string]any{"name": "work", "arguments": map[string]any{"call": call}})
		if err != nil || got.status != http.StatusOK || got.Result.TaskID != "" {
			t.Errorf("without a rule: got %v, %v", got, err)
		}
	}
	plain("plain")
	r.write(t, r.pool("")+"[[upgrade]]\ntools = [\"work\"]\npoll_interval = \"50ms\"\n")
	r.hangUp(t)
	id := r.make(t, "held")
	r.tool.awaitRuns(t, 2)
	r.write(t, r.pool(""))
	r.hangUp(t)
	plain("plain again")
	r.tool.let("held")
	r.wantDone(t, id, "held")
}

// Flags win over the file on each reading, as at the start.
func TestFlagsWinOnEachReading(t *testing.T) {
	t.Parallel()
	r := &reloading{fleet: startLocalFleet(t, nil), spare: startLocalFleet(t, nil), client: newModernClient(t), file: filepath.Join(t.TempDir(), "berth.toml")}
	r.write(t, "[[pools]]\n")
	r.watched = startWatched(t, r.fleet.fleet, "--config", r.file)
	r.write(t, "listen = \"127.0.0.1:1\"\n[log]\nlevel = \"debug\"\n[[pools]]\npicker = \"round-robin\"\n[[pools.upstreams]]\nurl = \"http://"+freeAddress(t)+"/mcp\"\n")
	got := r.verb(t)
	if want := r.file + ": in use\nchanged: log.level, pools.default.picker\n"; got.code != 0 || got.stdout != want {
		t.Errorf("got %d %q %q, want %q", got.code, got.stdout, got.stderr, want)
	}
	for range 6 {
		r.list(t)
	}
}
