//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// sessionChurn is a deployment whose berths die all the time, and the tasks of clients with
// sessions in it.
type sessionChurn struct {
	*sessionHolders
	sessions []*legacyClient

	mu     sync.Mutex // guards the fields below
	live   []*watched
	counts sessionCounts
}

// sessionCounts is what became of the clients' calls.
type sessionCounts struct{ asked, tasks, right, asks, again, kills, orphaned, retries int }

func (c sessionCounts) String() string {
	return fmt.Sprintf("%d calls, %d tasks: %d right; %d questions answered, %d shown once more; %d berths killed with %d calls; %d requests repeated",
		c.asked, c.tasks, c.right, c.asks, c.again, c.kills, c.orphaned, c.retries)
}

// answersWithin is the longest that these clients take to answer.
const answersWithin = 4 * time.Second

// sessionChurnThrough makes that many tasks in several sessions through three berths of which
// one dies every now and then. None may be lost, run twice or hang.
func sessionChurnThrough(t testing.TB, server askingServer, tasks int, lasts, every time.Duration) {
	c := &sessionChurn{sessionHolders: newSessionHolders(t, server, 3, sealed())}
	for range 3 {
		c.live = append(c.live, c.start(t))
	}
	for i := range 9 {
		c.sessions = append(c.sessions, openSession(t, c.live[i%3].url(), fmt.Sprintf("client-%d", i)))
	}
	var clients sync.WaitGroup
	clients.Go(func() {
		next := time.NewTicker(lasts / time.Duration(tasks))
		defer next.Stop()
		for i := range tasks {
			clients.Go(func() { c.one(t, i) })
			<-next.C
		}
	})
	death := time.NewTicker(every)
	defer death.Stop()
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		<-death.C
		c.replace(t)
	}
	clients.Wait()
	c.counts.orphaned = c.orphaned()
	t.Log(c.counts)
	if c.counts.orphaned == 0 {
		t.Error("no berth held a call when it died")
	}
	if c.counts.right != tasks {
		t.Errorf("tasks with the right result: got %d, want %d", c.counts.right, tasks)
	}
	if got := c.fleet.fleet.sum(t, stats.repeats); got != 0 {
		t.Errorf("calls that were run twice: got %d, want none", got)
	}
	c.wantSeen(t, tasks)
}

// replace kills a berth and starts another one.
func (c *sessionChurn) replace(t testing.TB) {
	t.Helper()
	i := rand.IntN(len(c.live))
	c.live[i].kill() // clients find out by themselves
	fresh := c.start(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live[i] = fresh
	c.counts.kills++
}

func (c *sessionChurn) any() *watched {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live[rand.IntN(len(c.live))]
}

// one is one task of a client's, from its call to its result.
func (c *sessionChurn) one(t testing.TB, i int) {
	uses := append([]func(string) toolUse{c.server.asking, c.server.asking, c.server.slow}, c.server.others...)
	u, tries := c.makeOne(t, c.sessions[i%len(c.sessions)], i, uses[rand.IntN(len(uses))])
	if u.task == "" {
		return
	}
	u.thinks = answersWithin
	a := u.attend(t, c.any)
	c.mu.Lock()
	defer c.mu.Unlock()
	n := &c.counts
	n.asked += tries
	n.tasks++
	n.asks += len(a.answered)
	n.again += a.again
	n.retries += a.retries
	more := len(a.answered) - u.asks
	if !u.right(a.response) || more < 0 || more > 0 && !c.server.replaysAll {
		t.Errorf("%s (%s): got %s, asks answered %v, want %q and %d", u.call, u.task, a.response.whole, a.answered, u.want(u.task), u.asks)
		return
	}
	n.right++
}

// makeOne calls a tool until a berth answers with a task. What became of a call whose
// answer was lost nobody can know: it is made anew, under another name.
func (c *sessionChurn) makeOne(t testing.TB, client *legacyClient, i int, use func(string) toolUse) (u heldUse, tries int) {
	var err error
	if !await(t, endsWithin, func() bool {
		tries++
		call := fmt.Sprintf("call-%d.%d", i, tries)
		u = heldUse{toolUse: use(call), client: client, call: call}
		u.task, err = client.call(t.Context(), c.any().url(), u.tool, u.arguments)
		return err == nil
	}) {
		t.Errorf("%s: no berth makes a task of it: %v", u.call, err)
	}
	return u, tries
}

// orphaned counts the calls that were taken over from berths that had died, by what the
// others have logged.
func (c *sessionChurn) orphaned() (n int) {
	for _, b := range c.berths {
		for _, line := range b.output.lines() {
			var said struct {
				Msg   string
				Tasks int
			}
			if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "a berth that held calls is gone" {
				n += said.Tasks
			}
		}
	}
	return n
}

// wantSeen fails the test unless the server has run the tool of each task, and of no more
// calls than were made.
func (c *sessionChurn) wantSeen(t testing.TB, tasks int) {
	t.Helper()
	if ran := c.fleet.fleet.sum(t, stats.toolCalls); ran < tasks || ran > c.counts.asked {
		t.Errorf("tools run: got %d, want one for each of %d tasks, of %d calls", ran, tasks, c.counts.asked)
	}
}

// One berth dies every ten seconds, with calls under way that ask their clients, and no
// client loses anything.
func TestCallsOfSessionsOutliveBerthsThatDieAllTheTime(t *testing.T) {
	t.Parallel()
	for _, server := range []askingServer{askingServers[0], askingServers[2]} {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			sessionChurnThrough(t, server, 150, 30*time.Second, 10*time.Second)
		})
	}
}
