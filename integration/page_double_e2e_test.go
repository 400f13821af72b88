//go:build e2e

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/internal/admin"
	"berth/internal/drain"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The page before an API that tells what a real fleet would not within seconds; one browser, a tab a story.
func TestPage(t *testing.T) {
	t.Parallel()
	browser := openBrowser(t)
	open := func(t *testing.T) func(*apiDouble, string, string) *tab {
		return func(d *apiDouble, token, view string) *tab { return openTab(t, browser, d.start(t, token), view) }
	}
	t.Run("ten thousand tasks", func(t *testing.T) { pageCrowd(t, open(t)) }) // by itself, as it measures
	for name, story := range map[string]func(t *testing.T, open func(d *apiDouble, token, view string) *tab){
		"filters stand in the URL":             pageFilters,
		"a list is paged":                      pagePages,
		"a refresh leaves things in place":     pageStaysInPlace,
		"refresh is paused":                    pagePauses,
		"the token is asked for, and kept out": pageToken,
		"hostile names are text":               pageHostile,
		"orders are confirmed":                 pageConfirms,
		"what became of orders is told":        pageOrdered,
		"a fault is told over what was":        pageFaults,
		"light and dark":                       pageColours,
		"nothing there":                        pageEmpty,
		"words go with numbers":                pageWords,
		"a store takes no writes":              pageNoWrites,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(t, open(t))
		})
	}
}

func pageFilters(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := quiet(60)
	p := open(d, "", "#/tasks?state=failed&tool=transcribe")
	p.await("#total", "10 of 10")
	p.choose("f-state", "queued")
	p.await(row("default "+d.tasks[2].ID), "queued")
	if got := eval[string](p, "location.hash"); got != "#/tasks?state=queued&tool=transcribe" {
		t.Errorf("after a choice: %s", got)
	}
	p.run(chromedp.Clear(chromedp.ID("f-tool")), chromedp.SendKeys(chromedp.ID("f-tool"), "reindex"+kb.Enter))
	p.await("main", "No task is like that.")
	p.run(chromedp.NavigateBack())
	p.await("#total", "10 of 10")
	if got := eval[string](p, "document.getElementById('f-tool').value"); got != "transcribe" {
		t.Errorf("gone back, the filter shows %q", got)
	}
	p.run(chromedp.Reload())
	p.await("#total", "10 of 10")
	p.click("#clear")
	p.await("#total", "60 of 60")
	p.click(`#tally li[data-key="input_required"] > a`)
	p.await("#total", "10 of 10")
}

func pagePages(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := quiet(120)
	p := open(d, "", "#/tasks")
	p.await("#total", "100 of 120")
	p.click("#next")
	p.await("#total", "20 of 120")
	if p.text(row("default "+d.tasks[100].ID)) == "" {
		t.Error("the second page does not begin with task 100")
	}
	p.run(chromedp.NavigateBack())
	p.await("#total", "100 of 120")
	p.run(chromedp.Evaluate[chromedp.Void]("location.hash = '#/queues'; location.hash = '#/tasks'")) // there and back, before anything came
	p.settle()
	d.change(func() { d.streams = 4711 })
	p.show("#/sessions")
	p.await("main", "The 1 that stands longest, of 4,711.")
}

// What an operator has focused, selected or begun to type is there after a refresh that adds rows above.
func pageStaysInPlace(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := quiet(0)
	p := open(d, "", "#/?pool=default")
	p.await(row("default/b"), "in service")
	p.run(chromedp.Evaluate[chromedp.Void](`
		window.kept = document.querySelector('tr[data-key="default/b"]');
		window.text = kept.querySelector("th a").firstChild;
		getSelection().setBaseAndExtent(text, 1, text, 6);
		document.getElementById("order-default-b").focus();`))
	d.change(func() {
		first := d.upstreams[0]
		first.Name, first.Left.Tasks = "0", 4711
		d.upstreams = append(d.upstreams[:0:0], first, d.upstreams[0], d.upstreams[1])
		d.upstreams[1].Left.Requests = 7
	})
	p.await(row("default/0"), "4,711")
	if !eval[bool](p, `kept === document.querySelector('tr[data-key="default/b"]') && kept.rowIndex === 3`) {
		t.Error("the row is another one now, or stands elsewhere")
	}
	if got := eval[string](p, "document.activeElement.id + ' ' + getSelection().toString()"); got != "order-default-b efaul" {
		t.Errorf("focused and selected is %q", got)
	}
	p.run(chromedp.Evaluate[chromedp.Void]("window.scrollTo(0, 0)"))
	p.show("#/tasks")
	p.await("main", "Older than")
	p.run(chromedp.SendKeys(chromedp.ID("f-caller"), "c0f"))
	asked := d.questions()
	if !await(t, pageWithin, func() bool { return d.questions() > asked+1 }) {
		t.Fatal("there was no refresh")
	}
	if got := eval[string](p, "document.activeElement.id + document.activeElement.value"); got != "f-callerc0f" {
		t.Errorf("what was begun to type: %q", got)
	}
}

func pagePauses(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := quiet(3)
	p := open(d, "", "#/")
	p.await(row("default/a"), "in service")
	p.choose("every", "1")
	p.click("#pause")
	p.await("#asof", "stands since")
	asked := d.questions()
	<-time.After(2500 * time.Millisecond)    // in which it would have asked twice
	if got := d.questions(); got > asked+1 { // one may have been under way
		t.Errorf("paused, it has asked %d times", got-asked)
	}
	p.run(chromedp.Reload())
	p.await("#asof", "stands since")
	d.change(func() { d.upstreams[0].Left.Tasks = 815 })
	p.click("#pause")
	p.await(row("default/a"), "815")
	if got := eval[string](p, "document.getElementById('every').value"); got != "1" {
		t.Errorf("the interval after a reload: %s, want 1", got)
	}
}

func pageToken(t *testing.T, open func(*apiDouble, string, string) *tab) {
	const secret = "s3cret-token"
	p := open(quiet(3), secret, "#/tasks")
	p.await("main", "asks for its token")
	p.shoot("token")
	if strings.Contains(p.text("body"), "mcp-7f") {
		t.Error("without the token the page shows a berth's name")
	}
	p.run(chromedp.SendKeys(chromedp.ID("token"), "wrong"+kb.Enter))
	p.await("main", "That is not the token")
	p.run(chromedp.SendKeys(chromedp.ID("token"), secret+kb.Enter))
	p.await("#total", "3 of 3")
	p.run(chromedp.Reload())
	p.await("#total", "3 of 3")
	if got := eval[string](p, "location.href + document.cookie + JSON.stringify(localStorage) + document.documentElement.outerHTML"); strings.Contains(got, secret) {
		t.Errorf("the token is in the URL, a cookie, what is kept for good, or the page: %s", got)
	}
	p.click("#forget")
	p.await("main", "asks for its token")
}

// hostile would run if it became markup, and names nothing that a path or a selector is safe with.
const hostile = `<img src=x onerror="window.hacked=1">'"&</td><script>window.hacked=2</script>/../?a=b#c`

func pageHostile(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := quiet(2).troubled()
	for i := range d.tasks {
		task := &d.tasks[i]
		task.ID, task.Tool, task.Pool, task.Upstream, task.Holder, task.Caller, task.Message, task.Dialect = hostile+fmt.Sprint(i), hostile, hostile, hostile, hostile, hostile, hostile, hostile
	}
	u := &d.upstreams[0]
	u.Pool, u.Name, u.URL, u.Reason, u.Server, u.SeenBy[0].Berth = hostile, hostile, "javascript:window.hacked=3", hostile, hostile, hostile
	d.status.Berth.Name, d.status.Berths[0].Name, d.status.Berths[0].Host, d.status.NotReady, d.status.Store.Address, d.status.Store.Reason = hostile, hostile, hostile, []string{hostile}, hostile, hostile
	d.queues[0].ID, d.queues[0].Rule, d.events[0].Detail, d.decisions[0].Outcome, d.sessions[0].ID, d.timeline[0].Detail = hostile, hostile, hostile, hostile, hostile, hostile
	p := open(d, "", "#/")
	for _, view := range []string{"#/", "#/instances", "#/queues", "#/berths", "#/sessions", "#/settings", "#/troubles/refusals", "#/explain?id=" + "%3Cimg%20src%3Dx%20onerror%3Dwindow.hacked%3D4%3E", "#/tasks"} {
		p.show(view)
		p.settle()
		if view != "#/settings" && !strings.Contains(p.text("body"), "<img src=x onerror") {
			t.Errorf("%s does not show the name as it is", view)
		}
		p.wantNoScroll()
	}
	p.click("main tbody tr th a")
	p.await("main h2", hostile+"0")
	p.show("#/queues")
	p.settle()
	p.click("main tbody tr:first-child button")
	p.click("#dialog-yes")
	p.await("#said", "goes on")
	p.shoot("hostile")
	if got := eval[string](p, "String(window.hacked) + document.querySelectorAll('img, body script').length"); got != "undefined0" {
		t.Errorf("a name became markup: %s", got)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if want := "POST /v1/queues/" + hostile + "/resume"; len(d.orders) != 1 || d.orders[0] != want {
		t.Errorf("ordered %q, want %q", d.orders, want)
	}
}

func pageConfirms(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := quiet(3)
	p := open(d, "", "#/")
	p.click("#order-default-a")
	p.await("#dialog", "Drain default/a?")
	p.shoot("confirm")
	p.run(chromedp.KeyEvent(kb.Escape))
	if !await(t, pageWithin, func() bool { return eval[bool](p, "!document.getElementById('dialog').open") }) {
		t.Fatal("Escape does not close the question")
	}
	if got := eval[string](p, "document.activeElement.id"); got != "order-default-a" {
		t.Errorf("the focus is on %q", got)
	}
	p.order("#order-default-b")
	p.await("#said", "default/b drains")
	p.await(row("default/b"), "not yet")
	p.order("#order-default-b")
	p.await(row("default/b"), "in service")
	d.mu.Lock()
	defer d.mu.Unlock()
	if got := fmt.Sprint(d.orders); got != "[POST /v1/upstreams/default/b/drain POST /v1/upstreams/default/b/undrain]" {
		t.Errorf("ordered %s", got)
	}
}

// What an order about a task has done is told as it is: of one that was made again what it is now, of a server's that its end is to come.
func pageOrdered(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := quiet(6)
	p := open(d, "", "#/tasks/"+d.tasks[5].ID)
	p.order("#rerun")
	p.await("#said", "Task "+d.tasks[5].ID+" is made again: as made-again, which is queued.")
	p.show("#/tasks/" + d.tasks[1].ID)
	p.order("#cancel")
	p.await("#said", "Task "+d.tasks[1].ID+" is cancelled.")
	p.show("#/tasks/" + d.tasks[0].ID)
	p.order("#cancel")
	p.await("#said", "Task "+d.tasks[0].ID+": the upstream has taken the cancellation.")
}

func pageFaults(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := quiet(3)
	p := open(d, "", "#/")
	p.await(row("default/a"), "in service")
	d.change(func() {
		d.fault = &admin.Fault{Status: http.StatusServiceUnavailable, Code: "store_unavailable", Message: "redis: connection refused"}
	})
	p.await("#banner", "The store does not answer")
	p.await(row("default/a"), "in service")
	p.shoot("stale")
	p.show("#/queues")
	p.await("main", "The store does not answer")
	p.shoot("away")
	d.change(func() { d.fault = nil })
	p.await("main", "render_*")
	p.await("#banner", "")
	p.show("#/tasks/nobody")
	p.settle()
	p.show("#/berths/nobody")
	p.await("main", "No berth is called nobody")
}

func pageColours(t *testing.T, open func(*apiDouble, string, string) *tab) {
	p := open(quiet(3), "", "#/")
	ground := func() string { return eval[string](p, "getComputedStyle(document.body).backgroundColor") }
	p.colours("light")
	light := ground()
	p.colours("dark")
	dark := ground()
	if light == dark {
		t.Fatalf("light and dark are both %s", light)
	}
	p.choose("theme", "light")
	if got := ground(); got != light {
		t.Errorf("light is chosen, and it is %s", got)
	}
	p.run(chromedp.Reload())
	if got := ground(); got != light {
		t.Errorf("after a reload it is %s", got)
	}
}

func pageEmpty(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := &apiDouble{}
	d.status.Berth.Name = "alone"
	p := open(d, "", "#/")
	for view, want := range map[string]string{
		"#/": "No pool has an instance yet", "#/instances": "No pool has an instance", "#/tasks": "There are no tasks", "#/queues": "No rule has a queue", "#/berths": "No berth has told", "#/sessions": "There are no such sessions",
		"#/explain": "This berth remembers none", "#/troubles/orphans": "None at this berth", "#/nowhere": "No pool has an instance yet",
	} {
		p.show(view)
		p.await("main", want)
	}
}

// One is one session, a held call is left though no task is owned, and who is dead is not up.
func pageWords(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := quiet(0)
	d.upstreams[0].Left = drain.Counts{Sessions: 1, Held: 1}
	old := &d.status.Berths[1]
	old.State, old.Version, old.Lease = "dead", "0.8.0", 0
	p := open(d, "", "#/instances/default/a")
	p.await("main", "0 tasks, 1 session, 0 streams, 0 requests, 1 held call")
	p.await("main", "It owns no task and no session.")
	p.show("#/berths")
	p.await(row("swift-otter"), "0.8.0 ▲")
	if got := p.text(row("swift-otter") + ` td[data-head="Up"]`); got != "–" {
		t.Errorf("a dead berth is up for %q", got)
	}
}

// How long the page takes is told, and no more: it depends on the machine.
func pageCrowd(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := quiet(10_000)
	p := open(d, "", "#/queues")
	p.settle()
	for _, view := range []string{"#/tasks", "#/tasks?limit=1000", "#/"} {
		took := eval[float64](p, fmt.Sprintf(`(async () => { const began = performance.now(); location.hash = %q; await new Promise(r => setTimeout(r)); while (document.querySelector("main[aria-busy]")) await new Promise(r => setTimeout(r, 5)); return performance.now() - began; })()`, view), chromedp.EvalAwaitPromise)
		t.Logf("%s with 10,000 tasks is shown after %.0f ms", view, took)
		p.settle()
	}
	p.show("#/tasks")
	p.await("#total", "100 of 10,000 tasks")
}

// A store that answers and takes no writes is not told to be well.
func pageNoWrites(t *testing.T, open func(*apiDouble, string, string) *tab) {
	d := quiet(6)
	d.status.Store.NoWrites, d.status.Store.NoWritesSince = "oom", time.Now().Add(-40*time.Second)
	p := open(d, "", "#/")
	p.await(".strip .store", "takes no writes")
	p.await("#findings", "store takes no writes oom: what is made is kept in berths' memory, for")
}
