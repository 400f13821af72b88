//go:build e2e

package integration

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/api"
	"berth/internal/storage/redistest"

	"github.com/chromedp/chromedp"
)

// pageConfig has berths see within seconds that an instance does not answer.
const pageConfig = `
[store]
holder_lease = "1s"
[[pools]]
picker = "round-robin"
[pools.health]
check = "discover"
interval = "500ms"
jitter = "0s"
timeout = "500ms"
rise = 1
fall = 2
[[upgrade]]
tools = ["slow_compute"]
poll_interval = "50ms"
`

// What an operator does at three in the morning, on the page of one of two berths: an instance is drained
// and watched as it empties, a task that hangs is found and cancelled; an instance freezes, the other berth
// dies, the store goes away and comes back.
func TestPageInTheNight(t *testing.T) {
	t.Parallel()
	fleet := startProcesses(t, "a", "b")
	redis := redistest.Start(t)
	var berths []*watched
	for range 2 {
		berths = append(berths, startWatched(t, fleet, "--config", configFile(t, pageConfig), "--store", redis.URL()))
	}
	client := newModernClient(t)
	p := openTab(t, openBrowser(t), berths[0].admin, "#/")

	p.await(row("default/a"), "in service")
	var lasting []string
	for range 2 { // one at each
		lasting = append(lasting, client.create(t, berths[1].url(), 3600).TaskID)
	}
	p.order("#order-default-a")
	p.await(row("default/a"), "waits for")
	p.shoot("real-draining")
	for _, id := range lasting {
		if code := order(t, berths[0].admin, "POST", "/v1/tasks/"+id+"/cancel", map[string]any{}, &api.TaskDetail{}); code != "" {
			t.Errorf("cancel: %s", code)
		}
	}
	p.await(row("default/a"), "may stop")
	p.order("#order-default-a")
	p.await(row("default/a"), "in service")

	hung := client.create(t, berths[1].url(), 3600)
	p.show("#/tasks?older=1s&state=dispatched")
	p.await(row("default "+hung.TaskID), "slow_compute")
	p.wantNoScroll()
	p.shoot("real-tasks")
	p.click(row("default "+hung.TaskID) + " th a")
	p.await("#timeline", "sent")
	p.shoot("real-task")
	p.order("#cancel")
	p.await("#said", "is cancelled")
	p.await("#timeline", "ended")
	if got := client.get(t, berths[1].url(), hung.TaskID); got.Status != "cancelled" {
		t.Errorf("its client is told %+v", got)
	}

	berths[1].kill()
	fleet[1].signal(t, syscall.SIGSTOP)
	p.show("#/instances")
	p.await(row("default/b"), "failing")
	p.wantNoScroll()
	p.shoot("real-frozen")
	fleet[1].signal(t, syscall.SIGCONT)
	p.await(row("default/b"), "passed")
	p.show("#/berths")
	p.await("main", "dead")
	p.shoot("real-berths")

	redis.Kill()
	p.await("#strip", "away")
	p.show("#/")
	p.await("main", "store away")
	p.shoot("real-outage")
	redis.Restart()
	p.await("#strip", "answers")
	p.await(row("default/a"), "in service")
	p.shoot("real-after")
	p.size(390, 844)
	p.wantNoScroll()
}

// Every view of a berth that has nothing to tell yet, and knows no other.
func TestPageOfAMemoryBerth(t *testing.T) {
	t.Parallel()
	b := startWatched(t, startProcesses(t, "a"), "--store", "memory:")
	p := openTab(t, openBrowser(t), b.admin, "")
	for view, want := range map[string]string{"#/": "in service", "#/instances": "default/a", "#/tasks": "There are no tasks", "#/queues": "No rule has a queue", "#/berths": "serving", "#/sessions": "There are no such sessions", "#/explain": "decisions", "#/settings": "store.url", "#/troubles": "Orphans", "#/troubles/refusals": "None at this berth"} {
		p.show(view)
		p.await("main", want)
		p.wantNoScroll()
		p.shoot("memory-" + strings.ReplaceAll(strings.TrimPrefix(view, "#/"), "/", "-"))
	}
}

// The page is none of the cost of a request; with many live tasks it goes on telling. How long that takes
// is told, and no more: it depends on the machine.
func TestPageWithManyTasks(t *testing.T) {
	t.Parallel()
	fleet := startProcesses(t, "a", "b")
	redis := redistest.Start(t)
	b := startWatched(t, fleet, "--store", redis.URL())
	client := newModernClient(t)
	made := fewerInRace(10_000)
	began := time.Now()
	crowd(t, made, 32, func(int) { client.create(t, b.url(), 3600) })
	t.Logf("%d tasks were made within %v", made, time.Since(began).Round(time.Millisecond))
	p := openTab(t, openBrowser(t), b.admin, "#/queues")
	p.settle()
	for _, view := range []string{"#/tasks", "#/tasks?state=working", "#/tasks?older=1s&tool=slow*", "#/"} {
		took := eval[float64](p, fmt.Sprintf(`(async () => { const began = performance.now(); location.hash = %q; await new Promise(r => setTimeout(r)); while (document.querySelector("main[aria-busy]")) await new Promise(r => setTimeout(r, 5)); return performance.now() - began; })()`, view), chromedp.EvalAwaitPromise)
		t.Logf("%s with %d live tasks is shown after %.0f ms", view, made, took)
		p.settle()
	}
	p.show("#/tasks")
	p.await("#total", fmt.Sprintf("of %d,000 tasks", made/1000))
	p.shoot("real-many")
}
