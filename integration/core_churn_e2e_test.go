//go:build e2e

package integration

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// coreChurn is calls through berths that die all the time.
type coreChurn struct {
	*coreBerths
	asks func(call string) (tool string, args map[string]any, want string)

	// begun is held by clients until what their call asks has been seen, and by whoever
	// kills: before its first event nobody can know what became of a call.
	begun sync.RWMutex

	mu     sync.Mutex // guards the fields below
	asked  int        // questions, those included that were asked again
	killed int
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
	t.Logf("%d calls, %d questions answered, %d berths killed", calls, c.asked, c.killed)
}

// replace kills a berth and starts another one.
func (c *coreChurn) replace(t testing.TB) {
	t.Helper()
	i := rand.IntN(len(c.live))
	c.begun.Lock()
	c.live[i].kill() // clients find out by themselves
	c.begun.Unlock()
	fresh := c.start(t)
	c.coreBerths.mu.Lock()
	c.live[i] = fresh
	c.coreBerths.mu.Unlock()
	c.mu.Lock()
	c.killed++
	c.mu.Unlock()
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
		c.mu.Lock()
		c.asked++
		c.mu.Unlock()
	})
	if end.Error != nil || !strings.Contains(string(end.Result), call.want) {
		t.Errorf("call %d: got %s, %v, want a result with %q", i, end.Result, end.Error, call.want)
	}
}

// makeOne makes a call through any berth that lives, and waits until it asks.
func (c *coreChurn) makeOne(t testing.TB, s *coreSession, i int) (call coreCall, ok bool) {
	tool, args, want := c.asks(fmt.Sprintf("call-%d", i))
	call = coreCall{session: s, want: want}
	c.begun.RLock()
	defer c.begun.RUnlock()
	ok = await(t, endsWithin, func() bool { // a berth that was killed is among the living for a moment
		id, err := s.make(c.any(), tool, args)
		call.taskID = id
		return err == nil
	}) && await(t, endsWithin, func() bool { return s.look(t, call.taskID).Status == "input_required" })
	if !ok {
		t.Errorf("call %d: no berth makes a task of it that asks", i)
	}
	return call, ok
}

// 300 calls that ask, through berths one of which dies every few seconds: none is lost, and
// none is run twice.
func TestCallsThatAskOutliveBerthsThatDieAllTheTime(t *testing.T) {
	for _, r := range resumable {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			const calls = 300
			c := &coreChurn{coreBerths: startCoreBerths(t, 3, r.server), asks: r.asks}
			c.run(t, calls, 40*time.Second, 5*time.Second)
			r.server.wantOnce(t, c.fleet, calls, 0)
		})
	}
}
