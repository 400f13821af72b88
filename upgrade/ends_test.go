package upgrade

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
)

// A call that outlasts its task ends it, for the moment that is left to say so.
func TestCallThatOutlastsItsTaskEndsIt(t *testing.T) {
	for name, slots := range map[string]int{"sent": 0, "queued": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := startBerths(t, 1, settings{}, newTool())[0]
				r := rule(func(r *Rule) { r.TTL, r.Concurrency = 5*time.Second, slots })
				first, last := b.hand(t, r, "first hang"), b.hand(t, r, "last hang")
				time.Sleep(5*time.Second + time.Millisecond)
				synctest.Wait()
				for _, id := range []string{first, last} {
					if f := b.see(t, id).failure(t); f.Data.Reason != mcp.ReasonTimeout {
						t.Errorf("got %+v, want that time was up", f)
					}
				}
			})
		})
	}
}

// A principal's cancelled task does not count as live though the berth that cancelled it
// died with that.
func TestTaskIsNotLiveAfterACancelByADyingBerth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		holder, dying := berths[0], berths[1]
		time.Sleep(testLease)
		id := holder.hand(t, rule(func(r *Rule) { r.LivePerPrincipal = 10 }), "call result/5s")
		list := holder.ledger.Lists.LiveOf(poolName, somebody.Principal)
		synctest.Wait()          // until it is sent: whose step a cancel forestalls tidies up for it
		dying.line.burn(2, true) // it reads the record, and stores the step
		_, _ = dying.Steps.Cancel(context.Background(), id, somebody)
		holder.mustState(t, id, Cancelled)
		if live := strings.Join(holder.members(t, list), " "); live != id {
			t.Fatalf("live are %q, want %q for now", live, id)
		}
		time.Sleep(10 * time.Second)
		if live := holder.members(t, list); len(live) != 0 {
			t.Errorf("live are %q, want none", live)
		}
		dying.clear()
	})
}
