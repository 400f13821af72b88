package upgrade

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// handTo hands a call of a rule that queues to the berth, which had best go to that upstream.
func (b *berth) handTo(t *testing.T, upstream, argument string) (id string) {
	t.Helper()
	c := creation(rule(queueing), argument)
	c.Prefer = upstream
	h, err := b.Maker.Create(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	h.Start(nil)
	synctest.Wait()
	return handle(h)
}

// Calls that have asked their clients, and can go on at one upstream alone, wait for that one's places. Those behind them go to others meanwhile.
func TestCallsThatGoOnAtOneUpstreamLeaveTheOthersTheirPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool("one", "two"))[0]
		time.Sleep(2 * testLease)
		at := func(upstream, argument string) (id string) { return b.handTo(t, upstream, argument) }
		asking, other := at("one", "asking ask:k result/1s"), at("one", "other ask:k result/1s")
		b.runner.Pools.Get(poolName).Routing.Find("one").NoteLegacy(true)
		b.mustState(t, asking, InputRequired)
		long, short := at("one", "long result/10m"), at("two", "short result/1m")
		for id, want := range map[string]string{long: "one", short: "two"} {
			if v := b.mustState(t, id, Dispatched); v.Upstream != want {
				t.Fatalf("a call went to %s, want %s", v.Upstream, want)
			}
		}
		for _, id := range []string{asking, other} {
			if err := b.Steps.Update(t.Context(), id, somebody, inputs("k", `"v"`), &Envelope{Bare: true}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		var behind []string
		for range 5 {
			behind = append(behind, at("", "behind result/10s"))
		}
		time.Sleep(2 * time.Minute)
		b.mustState(t, long, Dispatched)
		b.mustState(t, asking, Queued)
		for i, id := range behind {
			if v := b.see(t, id); v.State != Completed || v.Upstream != "two" {
				t.Errorf("call %d behind it is %s at %q, in place %d", i, v.State, v.Upstream, v.Place)
			}
		}
		time.Sleep(10 * time.Minute)
		for _, id := range []string{asking, other} {
			if v := b.mustState(t, id, Completed); v.Upstream != "one" {
				t.Errorf("it went on at %s", v.Upstream)
			}
		}
	})
}

// So do those behind them that another berth holds.
func TestCallsThatGoOnAtOneUpstreamHoldUpNoOtherBerth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := startBerths(t, 2, settings{shared: true}, newTool("one", "two"))
		b, other := both[0], both[1]
		time.Sleep(2 * testLease)
		var asking []string // as many as there are places, and one more
		for range 3 {
			asking = append(asking, b.handTo(t, "one", "asking ask:k result/1s"))
		}
		for _, berth := range both {
			berth.runner.Pools.Get(poolName).Routing.Find("one").NoteLegacy(true)
		}
		long, short := b.handTo(t, "one", "long result/10m"), b.handTo(t, "two", "short result/1m")
		for id, want := range map[string]string{long: "one", short: "two"} {
			if v := b.mustState(t, id, Dispatched); v.Upstream != want {
				t.Fatalf("a call went to %s, want %s", v.Upstream, want)
			}
		}
		for _, id := range asking {
			if err := b.Steps.Update(t.Context(), id, somebody, inputs("k", `"v"`), &Envelope{Bare: true}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		var behind []string
		for range 3 {
			behind = append(behind, other.handTo(t, "", "behind result/10s"))
		}
		time.Sleep(3 * time.Minute)
		b.mustState(t, long, Dispatched)
		for i, id := range behind {
			if v := other.see(t, id); v.State != Completed || v.Upstream != "two" {
				t.Errorf("call %d behind them is %s at %q, in place %d", i, v.State, v.Upstream, v.Place)
			}
		}
		time.Sleep(10 * time.Minute)
		for _, id := range asking {
			if v := b.mustState(t, id, Completed); v.Upstream != "one" {
				t.Errorf("it went on at %s", v.Upstream)
			}
		}
	})
}
