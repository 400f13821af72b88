//go:build e2e

package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// coreChurn is calls through berths that die all the time.
type coreChurn struct {
	*coreBerths
	asks func(call string) (tool string, args map[string]any, want string)

	// end ends a berth; nil: it is killed.
	end func(t testing.TB, b *watched)

	// anytime has berths end also while calls are on their way to their first event: before
	// that nobody can know what became of one.
	anytime bool

	// begun is held by clients until what their call asks has been seen, and by whoever
	// ends a berth, unless that is done at any time.
	begun sync.RWMutex

	mu                 sync.Mutex // guards the fields below
	asked, lost, ended int        // questions, those included that were asked again; calls; berths
}

// run makes that many calls, which ask and are answered, through three berths of which
// one dies every now and then, and wants all of them done, once each.
func (c *coreChurn) run(t testing.TB, calls int, lasts, every time.Duration) {
	t.Helper()
	var clients sync.WaitGroup
	clients.Go(func() {
		next := time.NewTicker(lasts / time.Duration(calls))
		defer next.Stop()
		for i := range calls {
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
	t.Logf("%d calls, %d lost, %d questions answered, %d berths ended", calls, c.lost, c.asked, c.ended)
}

// replace ends a berth, which clients find out by themselves, and starts another one.
func (c *coreChurn) replace(t testing.TB) {
	t.Helper()
	i := rand.IntN(len(c.live))
	if !c.anytime {
		c.begun.Lock()
	}
	if c.end != nil {
		c.end(t, c.live[i])
	} else {
		c.live[i].kill()
	}
	if !c.anytime {
		c.begun.Unlock()
	}
	fresh := c.start(t)
	c.coreBerths.mu.Lock()
	c.live[i] = fresh
	c.coreBerths.mu.Unlock()
	c.count(&c.ended)
}

func (c *coreChurn) count(n *int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n++
}

// follow is one client: it begins a session, makes a call that asks, thinks, and answers.
func (c *coreChurn) follow(t testing.TB, i int) {
	s := openCore(t, c.any)
	call, ok := c.makeOne(t, s, i)
	if !ok {
		return
	}
	end := s.settle(t, call.taskID, func() {
		<-time.After(rand.N(4 * time.Second))
		c.count(&c.asked)
	})
	switch {
	case end.Error == nil && strings.Contains(string(end.Result), call.want):
	case end.Error.lost() && c.anytime:
		c.count(&c.lost)
	default:
		t.Errorf("call %d: got %s, %v, want a result with %q", i, end.Result, end.Error, call.want)
	}
}

// makeOne makes a call through any berth that lives, and waits until it asks, or has ended.
// What became of a call whose answer was lost it cannot know: that is made anew, under
// another name.
func (c *coreChurn) makeOne(t testing.TB, s *coreSession, i int) (call coreCall, ok bool) {
	call.session = s
	c.begun.RLock()
	defer c.begun.RUnlock()
	try := 0
	ok = await(t, endsWithin, func() bool {
		try++
		tool, args, want := c.asks(fmt.Sprintf("call-%d.%d", i, try))
		id, err := s.make(c.any(), tool, args)
		call.taskID, call.want = id, want
		return err == nil
	}) && await(t, endsWithin, func() bool { return s.look(t, call.taskID).Status != "working" })
	if !ok {
		t.Errorf("call %d: no berth makes a task of it that asks", i)
	}
	return call, ok
}

// churnCalls is how many calls there are in each of these tests, as the berths end.
const churnCalls = 300

// Whenever they are killed, no call is run twice, and what is lost says so.
func TestCallsThatAskEndOnceWheneverBerthsDie(t *testing.T) {
	t.Parallel()
	for _, r := range resumable {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := &coreChurn{coreBerths: startCoreBerths(t, 3, r.server), asks: r.asks, anytime: true}
			c.run(t, churnCalls, 20*time.Second, 2*time.Second)
			if got := c.fleet.sum(t, stats.repeats); got != 0 {
				t.Errorf("calls that came twice: got %d, want none", got)
			}
		})
	}
}

// Berths that are shut down leave their calls to the others: nobody loses any, whenever
// that is.
func TestCallsThatAskOutliveARollingRestart(t *testing.T) {
	t.Parallel()
	for _, r := range resumable[:2] {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := &coreChurn{coreBerths: startCoreBerths(t, 3, r.server), asks: r.asks, anytime: true}
			c.end = func(t testing.TB, b *watched) {
				b.signal(t, syscall.SIGTERM)
				b.awaitExit(t, readyWithin)
			}
			c.run(t, churnCalls/2, 20*time.Second, 3*time.Second)
			if c.lost > 0 {
				t.Errorf("calls lost: got %d, want none", c.lost)
			}
			if got := c.fleet.sum(t, stats.repeats); got != 0 {
				t.Errorf("calls that came twice: got %d, want none", got)
			}
		})
	}
}
