package upgrade

import (
	"testing"
	"testing/synctest"
	"time"
)

// A place that nobody gives back falls free also where who stands in front can go to its instance alone: the other one is away, or it is bound
// to that.
func TestPlaceOfTheDeadFallsFreeForWhoCanGoThereAlone(t *testing.T) {
	ghost := func(t *testing.T, b *berth) {
		list := b.ledger.Lists.SlotsOf(rule(queueing).Terms(poolName).Queue, "two")
		if err := b.ledger.Lists.Add(t.Context(), list, "ghost holder place", time.Hour, 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("away", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &restarts{up: newTool("one", "two"), away: []string{"one"}}
			b := startBerths(t, 1, settings{send: r.send, shared: true}, r.up)[0]
			r.b = b
			time.Sleep(2 * testLease)
			ghost(t, b)
			id := b.hand(t, rule(queueing), "call result/1s")
			time.Sleep(time.Minute)
			if v := b.see(t, id); v.State != Completed || v.Upstream != "two" {
				t.Errorf("it is %s at %q", v.State, v.Upstream)
			}
		})
	})
	t.Run("bound", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := startBerths(t, 1, settings{shared: true}, newTool("two"))[0]
			time.Sleep(2 * testLease)
			id := b.hand(t, rule(queueing), "call ask:k result/1s")
			synctest.Wait()
			b.mustState(t, id, InputRequired)
			b.runner.Pools.Get(poolName).Routing.Find("two").NoteLegacy(true)
			ghost(t, b)
			if err := b.Steps.Update(t.Context(), id, somebody, inputs("k", `"v"`), &Envelope{Bare: true}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			b.mustState(t, id, Completed)
		})
	})
}
