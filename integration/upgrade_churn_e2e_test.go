//go:build e2e

package integration

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// churn is a deployment whose berths die all the time, and the clients' tasks in it.
type churn struct {
	*holders

	mu     sync.Mutex // guards the fields below
	live   []*watched
	ends   map[heldTask]string // each task as its client first saw it ended
	counts churnCounts
}

// churnCounts is what became of the clients' calls.
type churnCounts struct{ asked, tasks, completed, lost, unsent, kills, retries int }

func (c churnCounts) String() string {
	return fmt.Sprintf("%d calls, %d tasks: %d completed, %d failed as holder_lost, %d of these not run; %d berths killed; %d requests repeated",
		c.asked, c.tasks, c.completed, c.lost, c.unsent, c.kills, c.retries)
}

// churnCall is the longest that a call takes.
const churnCall = 4 * time.Second

// churnRules: half of the calls queue.
const churnRules = `
[[upgrade]]
tools = ["work"]
poll_interval = "200ms"

[[upgrade]]
tools = ["queued"]
poll_interval = "200ms"
concurrency = 4
`

// churnThrough makes that many tasks through three berths of which one dies every now and
// then, and wants each to end once.
func churnThrough(t testing.TB, tasks int, lasts, every time.Duration) {
	h := newHolders(t, sharedStore(t), "", churnRules)
	h.tool.lasts = func() time.Duration { return rand.N(churnCall) }
	c := &churn{holders: h, ends: map[heldTask]string{}}
	for range 3 {
		c.live = append(c.live, h.start(t))
	}
	var clients sync.WaitGroup
	clients.Go(func() {
		next := time.NewTicker(lasts / time.Duration(tasks))
		defer next.Stop()
		for i := range tasks {
			clients.Go(func() { c.follow(t, i) })
			<-next.C
		}
	})
	death := time.NewTicker(every)
	defer death.Stop()
	for end := time.Now().Add(lasts); time.Now().Before(end); <-death.C {
		c.replace(t)
	}
	clients.Wait()
	c.wantAllEnded(t, tasks)
}

// replace kills a berth and starts another one.
func (c *churn) replace(t testing.TB) {
	t.Helper()
	i := rand.IntN(len(c.live))
	c.live[i].kill() // clients find out by themselves
	fresh := c.start(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live[i] = fresh
	c.counts.kills++
}

func (c *churn) any() *watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[rand.IntN(len(c.live))]
}

func (c *churn) count(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

// follow is one client: it makes a task, and polls it until it has ended.
func (c *churn) follow(t testing.TB, i int) {
	task, ok := c.makeOne(t, i)
	if !ok {
		return
	}
	c.count(&c.counts.tasks)
	var last seen
	if !await(t, endsWithin, func() bool {
		<-time.After(rand.N(200 * time.Millisecond))
		s, ok := c.look(t, c.any(), task)
		if !ok {
			c.count(&c.counts.retries)
			return t.Failed()
		}
		last = s
		return s.ended()
	}) {
		t.Errorf("%s does not end: got %s", task.call, last.object)
	}
	c.noteEnd(t, task, last)
}

// endsWithin bounds the life of a task, the time in a queue and that of an orphan
// included.
const endsWithin = time.Minute

// makeOne calls a tool until a berth answers with a task. What became of a call whose
// answer was lost nobody can know: it is made anew, under another name.
func (c *churn) makeOne(t testing.TB, i int) (task heldTask, ok bool) {
	tool := [2]string{"work", "queued"}[i%2]
	try := 0
	ok = await(t, endsWithin, func() bool {
		try++
		c.count(&c.counts.asked)
		task.call = fmt.Sprintf("%s-%d.%d", tool, i, try)
		got, err := c.call(t, c.any(), tool, task.call)
		task.id = got.Result.TaskID
		return err == nil && task.id != ""
	})
	if !ok {
		t.Errorf("%s: no berth makes a task of it", task.call)
	}
	return task, ok
}

// noteEnd keeps how a task ended, which has to be right.
func (c *churn) noteEnd(t testing.TB, task heldTask, s seen) {
	ran := c.tool.ran(task.call)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends[task] = s.object
	switch {
	case s.Status == "completed" && string(s.Result) == c.tool.result(task.call) && ran == 1:
		c.counts.completed++
	case s.lost(true) && ran <= 1:
		c.counts.lost++
	case s.lost(false) && ran == 0:
		c.counts.lost++
		c.counts.unsent++
	default:
		t.Errorf("%s, run %d times: got %s, want its result or that its holder is lost", task.call, ran, s.object)
	}
}

// wantAllEnded fails the test unless every berth shows each task as its client saw it
// end, and no call was run twice.
func (c *churn) wantAllEnded(t testing.TB, tasks int) {
	t.Helper()
	t.Log(c.counts)
	if len(c.ends) != tasks {
		t.Errorf("tasks that ended: got %d, want %d", len(c.ends), tasks)
	}
	var all []heldTask
	for task := range c.ends {
		all = append(all, task)
	}
	for _, b := range c.live {
		c.awaitEach(t, []*watched{b}, all, "as its client saw it end", func(task heldTask, s seen) bool { return s.object == c.ends[task] })
	}
	c.tool.wantNoneTwice(t)
	c.tool.wantAtMost(t, "queued", 4)
}

// Berths die every two seconds, and nobody loses anything but what died with them.
func TestUpgradedTasksOutliveBerthsThatDieAllTheTime(t *testing.T) {
	t.Parallel()
	churnThrough(t, 250, 20*time.Second, 2*time.Second)
}
