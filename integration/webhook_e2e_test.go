//go:build e2e

package integration

import (
	"cmp"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// allowNear has a receiver be at this machine.
const allowNear = `allow_private = ["127.0.0.1"]`

// Tasks end over three berths, of which one is killed while messages are under way. Each receiver is told of
// each end at least once, however it has refused before; who redirects is not followed; and who is at an
// address that is not allowed hears nothing, whatever its name.
func TestEachEndIsToldToEachReceiverThoughABerthDies(t *testing.T) {
	t.Parallel()
	forbidden, private := startForbidden(t)
	takers := []*hook{
		{name: "plain", keys: allowNear},
		{name: "failing", keys: allowNear, refuses: 2, refuse: status(http.StatusInternalServerError)},
		{name: "hanging", keys: allowNear, refuses: 1, refuse: hang},
		{name: "resetting", keys: allowNear, refuses: 2, refuse: reset},
		{name: "busy", keys: allowNear, refuses: 1, refuse: status(http.StatusServiceUnavailable, "Retry-After", "1")},
		{name: "slow", keys: allowNear, takes: 300 * time.Millisecond},
	}
	redirecting := &hook{name: "redirecting", keys: allowNear, refuses: 1 << 30, refuse: status(http.StatusTemporaryRedirect, "Location", forbidden)}
	rules := heldRules[:strings.Index(heldRules, "\n[[upgrade]]\ntools = [\"queued\"]")]
	for _, r := range append(takers, redirecting) {
		rules += r.start(t).table()
	}
	rules += (&hook{name: "private", url: forbidden, keys: `allow_private = ["127.0.0.3"]`}).table()
	h := startHolders(t, 3, sharedStore(t), "", rules)

	victim, others := h.berths[0], h.berths[1:]
	tasks := h.hold(t, victim, 15)
	tasks = append(tasks, h.hold(t, others[0], 5)...)
	tasks = append(tasks, h.hold(t, others[1], 5)...)
	for _, task := range tasks[:8] { // the victim's, of which it is to tell while it dies
		h.tool.let(task.call)
	}
	h.awaitEach(t, others, tasks[:2], "completed", func(_ heldTask, s seen) bool { return s.Status == "completed" })
	victim.kill()
	h.tool.letAll()

	ends := map[string]string{}
	for _, task := range tasks {
		h.awaitEach(t, others, []heldTask{task}, "ended", func(task heldTask, s seen) bool {
			ends[task.id] = s.Status
			return s.ended()
		})
	}
	for _, r := range takers {
		var got map[string]string
		if !await(t, 30*time.Second, func() bool { got = r.ends(); return len(got) == len(ends) }) {
			t.Errorf("%s was told of %d tasks, want all %d", r.name, len(got), len(ends))
		}
		for id, end := range got {
			if ends[id] != end {
				t.Errorf("%s was told that a task is %s, which is %s", r.name, end, ends[id])
			}
		}
		attempts, messages := r.attempted()
		t.Logf("%s: %d messages in %d attempts", r.name, messages, attempts)
		if messages != len(ends) {
			t.Errorf("%s knows %d messages of %d tasks: ids differ between attempts", r.name, messages, len(ends))
		}
		r.sound(t)
	}
	if attempts, _ := redirecting.attempted(); attempts == 0 || private.Load() != 0 {
		t.Errorf("%d redirects, and %d connections to where nothing may go", attempts, private.Load())
	}
	refused := 0
	for _, b := range others {
		if n := b.metric(t, "berth_webhook_deliveries_total", `outcome="delivered"`, `webhook="private"`); n != 0 {
			t.Errorf("%d messages went to where none may go", n)
		}
		refused += b.metric(t, "berth_webhook_deliveries_total", `outcome="forbidden"`, `webhook="private"`)
		if log := b.settled(); strings.Contains(log, "/redirecting") || strings.Contains(log, hookSecret) {
			t.Error("the log tells a URL's path, or a secret")
		}
	}
	if refused == 0 {
		t.Error("no berth refused the address that is not allowed")
	}
}

// What a receiver has not taken when its berth is killed is in the file: the next berth tells whoever the
// configuration names by then. So does a reload.
func TestMessagesOutliveTheirBerthAndFollowTheConfiguration(t *testing.T) {
	t.Parallel()
	down := (&hook{name: "ci", keys: allowNear, refuses: 1 << 30, refuse: status(http.StatusInternalServerError)}).start(t)
	second := (&hook{name: "ci", keys: allowNear, knows: nextHookSecret}).start(t)
	third := (&hook{name: "ci", keys: allowNear + "\nevents = [\"cancelled\"]"}).start(t)
	config := func(r *hook) string { return "[[upgrade]]\ntools = [\"work\"]\npoll_interval = \"50ms\"\n" + r.table() }
	h := startHolders(t, 1, fileStore(t), "", config(down))
	follow := func(before, now *hook) {
		if err := os.Rename(h.reconfigured(t, config(before), config(now)), h.config); err != nil {
			t.Fatal(err)
		}
	}
	tasks := h.hold(t, h.berths[0], 10)
	h.tool.let(names(tasks)...)
	h.awaitDone(t, h.berths, tasks)
	if !await(t, readyWithin, func() bool { n, _ := down.attempted(); return n > 0 }) {
		t.Fatal("nobody is told")
	}
	h.berths[0].kill()

	follow(down, second)
	b := h.start(t)
	if !await(t, readyWithin, func() bool { return len(second.ends()) == len(tasks) }) {
		t.Errorf("%d tasks are told of, want %d", len(second.ends()), len(tasks))
	}
	if n := b.metric(t, "berth_webhook_given_up_total"); n != 0 {
		t.Errorf("%d messages are given up", n)
	}

	follow(second, third)
	b.signal(t, syscall.SIGHUP)
	if !await(t, readyWithin, func() bool { return b.metric(t, "berth_config_reloads_total", `outcome="ok"`) == 1 }) {
		t.Fatal("the configuration is not in use")
	}
	done, cancelled := h.hold(t, b, 1), h.hold(t, b, 1)[0]
	h.tool.let(names(done)...)
	h.awaitDone(t, []*watched{b}, done)
	if _, err := h.client.send(t, b.url(), "tasks/cancel", cancelled.id, map[string]any{"taskId": cancelled.id}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{cancelled.id: "cancelled"}
	if !await(t, readyWithin, func() bool { return len(third.ends()) > 0 }) || !maps.Equal(third.ends(), want) {
		t.Errorf("got %v, want %v", third.ends(), want)
	}
	for _, r := range []*hook{down, second, third} {
		r.sound(t)
	}
}

// A call that is answered in time is no task, so its end is told to nobody; and a tool that a rule without
// receivers names has none, whatever other rules say.
func TestCallsThatStayPlainAreToldToNobody(t *testing.T) {
	t.Parallel()
	r := (&hook{name: "ci", keys: allowNear}).start(t)
	h := startHolders(t, 1, "memory:", "", "[[upgrade]]\ntools = [\"work\"]\nafter = \"5s\"\n"+r.table()+
		"[[upgrade]]\ntools = [\"silent\"]\n[[upgrade]]\ntools = [\"told\"]\n"+r.table())
	h.tool.letAll()
	for _, tool := range []string{"work", "silent", "told"} {
		got, err := h.call(t, h.berths[0], tool, tool)
		if err != nil || (got.Result.TaskID == "") != (tool == "work") {
			t.Fatalf("%s: got %v, %v", tool, got, err)
		}
	}
	if !await(t, readyWithin, func() bool { return len(r.ends()) > 0 }) {
		t.Fatal("nothing is told")
	}
	if attempts, _ := r.attempted(); attempts != 1 {
		t.Errorf("%d messages, want that of the one task with a receiver", attempts)
	}
	r.sound(t)
}

// startForbidden listens where no message may go, and returns a URL whose host is a name that leads there,
// and the number of connections that were made.
func startForbidden(t testing.TB) (url string, made *atomic.Int64) {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	addrs, err := net.LookupHost(name)
	if err != nil || len(addrs) == 0 {
		t.Skipf("the name of this machine leads nowhere: %v", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(addrs[0], "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	made = new(atomic.Int64)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			made.Add(1)
			conn.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return "http://" + cmp.Or(name, "localhost") + ":" + port + "/private", made
}
