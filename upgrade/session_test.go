package upgrade

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/upgrade/places"
)

// A call in a session that its upstream does not know was not run.
func TestCallInALostSessionFails(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		old.denied = true
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		if f := berths[1].see(t, id).failure(t); f.Data.Reason != mcp.ReasonSessionLost || *f.Data.MayHaveExecuted {
			t.Errorf("failed as %+v", f)
		}
	})
}

// A call that waits in line for its session's instance is one of that: a drain waits for it.
func TestCallThatQueuesForItsSessionsInstanceIsOneOfIt(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		time.Sleep(2 * testLease)
		first := berths[0].handCore(t, rule(queueing), 0)
		soon()
		second := berths[1].handCore(t, rule(queueing), 0)
		soon()
		u := berths[1].runner.Pools.Get(poolName).Routing.Find(berths[1].mustState(t, second, Queued).Upstream)
		if held := u.UnderWay().Held; held != 1 {
			t.Errorf("%d calls are told of, while %s waits for %s", held, second, first)
		}
		old.call(t, 0).answer(`{}`)
		time.Sleep(5 * time.Second)
		old.call(t, 1).answer(`{}`)
		soon()
		berths[1].mustState(t, second, Completed)
		if held := u.UnderWay().Held; held != 0 {
			t.Errorf("%d calls are told of in the end", held)
		}
	})
}

// The end of a session waits for its calls, which cannot ask any more.
func TestSessionEndsWithItsLastCall(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		if _, held, err := berths[1].Sessions.End(t.Context(), clientsKey(), behindKey(), nil); held || err != nil {
			t.Fatalf("an idle session: %v, %v", held, err)
		}
		ids := []string{berths[0].handCore(t, rule(nil), 0), berths[1].handCore(t, rule(nil), 0)}
		soon()
		first, second := old.call(t, 0), old.call(t, 1)
		first.ask("0")
		soon()
		asks, held, err := berths[1].Sessions.End(t.Context(), clientsKey(), behindKey(), nil)
		if err != nil || !held || len(asks) != 1 || string(asks[0].ID) != "0" {
			t.Fatalf("got %v, %v, %v", asks, held, err)
		}
		berths[1].Sessions.Settle(t.Context(), asks[0].Task, asks[0].ID) // whoever ends it refuses what is open
		for _, b := range berths {
			if over, err := b.Sessions.SessionOver(t.Context(), clientsKey()); !over || err != nil {
				t.Errorf("the session goes on: %v", err)
			}
		}
		second.ask("1")
		soon()
		if told := old.told(); len(told) != 1 || !strings.Contains(told[0], `"id":1,"error"`) {
			t.Errorf("told %v", told)
		}
		first.answer(`{}`)
		soon()
		if ended := old.sessionsEnded(); len(ended) != 0 {
			t.Errorf("ended with a call under way: %v", ended)
		}
		second.answer(`{}`)
		soon()
		if ended := old.sessionsEnded(); !slices.Equal(ended, []string{"the upstream's"}) {
			t.Errorf("ended %v", ended)
		}
		for _, id := range ids {
			berths[0].mustState(t, id, Completed)
		}
	})
}

// It ends with what its client's DELETE bore: what the calls were made with may have expired.
func TestSessionEndsWithTheNewestCredentials(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		berths[0].handCore(t, rule(nil), 0)
		soon()
		if _, held, err := berths[0].Sessions.End(t.Context(), clientsKey(), behindKey(), &Envelope{Header: Pairs{"Authorization", "Bearer of the end"}}); !held || err != nil {
			t.Fatal(err)
		}
		old.call(t, 0).answer(`{}`)
		soon()
		old.mu.Lock()
		defer old.mu.Unlock()
		if !slices.Equal(old.ended, []string{"the upstream's"}) || !slices.Equal(old.endedBy, []string{"Bearer of the end"}) {
			t.Errorf("ended %v with %q", old.ended, old.endedBy)
		}
	})
}

// A session whose last call is lost with its holder ends, too.
func TestSessionOfALostCallEnds(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		old.nameless = true
		berths[0].handCore(t, rule(nil), 0)
		soon()
		if _, held, err := berths[1].Sessions.End(t.Context(), clientsKey(), behindKey(), nil); !held || err != nil {
			t.Fatal(err)
		}
		berths[0].kill()
		time.Sleep(graceful)
		synctest.Wait()
		if ended := old.sessionsEnded(); !slices.Equal(ended, []string{"the upstream's"}) {
			t.Errorf("ended %v", ended)
		}
	})
}

// What is kept of a call does not show the session.
func TestSessionIsSealedInTheStore(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, _ *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		record, err := berths[0].ledger.Records.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := json.Marshal(record.Task)
		c, open, failed := berths[1].ledger.Records.LoadCall(t.Context(), id)
		if err != nil || failed != nil || !open || c.Session != "the upstream's" || strings.Contains(string(kept), "upstream's") || strings.Contains(string(kept), clientsSession) {
			t.Errorf("kept %s, opened %+v, %v", kept, c, errors.Join(err, failed))
		}
	})
}

// A call that waits for the one upstream that has its session keeps nobody from another.
func TestCallsInSessionsQueueBeforeTheirUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := &oldServer{replays: true}
		b := startBerths(t, 1, settings{old: old}, newTool("u", "v"))[0]
		one := rule(func(r *Rule) { r.Concurrency = 1 })
		var waiting []string
		for range 4 {
			waiting = append(waiting, b.handAt(t, one, 0, "u"))
			synctest.Wait() // it stands in line before the next one comes
		}
		b.handAt(t, one, 0, "v")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if old.executions() != 2 {
			t.Fatalf("%d calls run, want one at each upstream", old.executions())
		}
		if v := b.see(t, waiting[3]); v.Place != 3 {
			t.Errorf("the last one stands at %d", v.Place)
		}
		for n := range 5 {
			old.call(t, n).answer(`{}`)
			time.Sleep(2 * places.Every)
			synctest.Wait()
		}
		for _, id := range waiting {
			b.mustState(t, id, Completed)
		}
	})
}
