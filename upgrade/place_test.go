package upgrade

import (
	"berth/upgrade/queues"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/places"
	"berth/upgrade/runner"
)

func queueing(r *Rule) { r.Concurrency = 1 }

// Places are given in the order of arrival, whoever holds the call, and no upstream has
// more calls than the rule allows.
func TestQueueKeepsItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		var ids []string
		for i := range 6 {
			ids = append(ids, berths[i%2].hand(t, rule(queueing), fmt.Sprintf("call-%d%s result/10s", i, bounded)))
			time.Sleep(2 * time.Millisecond)
		}
		synctest.Wait()
		for i, id := range ids {
			if got := berths[1].see(t, id).Place; got != i {
				t.Errorf("call %d is in place %d", i, got)
			}
		}
		v := berths[0].see(t, ids[3])
		if shown := v.shown(); shown.Message != "queued, 3rd" {
			t.Errorf("shown as %q", shown.Message)
		}
		for i, id := range ids {
			time.Sleep(10 * time.Second)
			synctest.Wait()
			berths[0].mustState(t, id, Completed)
			if i+1 < len(ids) {
				berths[0].mustState(t, ids[i+1], Dispatched)
			}
		}
		if up.atOnce("u") != 1 {
			t.Errorf("%d at once", up.atOnce("u"))
		}
	})
}

// Who gives up waiting is in nobody's way.
func TestCancelledCallLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		b := berths[0]
		first := b.hand(t, rule(queueing), "first hang")
		var waiting []string
		for i := range 3 {
			waiting = append(waiting, b.hand(t, rule(queueing), fmt.Sprintf("waiting-%d hang", i)))
			synctest.Wait()
		}
		queue := queues.WaitingIn(b.see(t, first).Terms.Queue)
		for _, id := range append(waiting[:2:2], first) {
			if _, err := berths[1].Steps.Cancel(t.Context(), id, somebody); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if slices.ContainsFunc(b.members(t, queue), func(name string) bool { return strings.HasPrefix(name, id) }) {
				t.Error("a call that was cancelled is still in the queue")
			}
		}
		b.mustState(t, waiting[2], Dispatched)
	})
}

// What a fail-over has brought back, of calls that are over, does not stop the queue.
func TestGhostsDoNotStopTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		time.Sleep(time.Second)
		terms := rule(queueing).Terms(poolName)
		for i := range 3 {
			name := fmt.Sprint("ghost-", i)
			if err := b.ledger.Lists.Add(t.Context(), queues.WaitingIn(terms.Queue), name, time.Hour, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.ledger.Lists.Add(t.Context(), b.ledger.Lists.SlotsOf(terms.Queue, "u"), "ghost holder place", time.Hour, 0); err != nil {
			t.Fatal(err)
		}
		id := b.hand(t, rule(queueing), "call result")
		time.Sleep(30 * time.Second)
		b.mustState(t, id, Completed)
	})
}

// A place that is given back late, by a berth that was cut off, is not the next one's: the
// bound holds.
func TestPlaceGivenBackLateIsNobodyElses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		b := startBerths(t, 1, settings{shared: true}, up)[0]
		time.Sleep(time.Second)
		b.line.refuse(func(op, list string) bool {
			return op == "delist" && list == b.ledger.Lists.SlotsOf(rule(queueing).Terms(poolName).Queue, "u")
		})
		// Its first round's place cannot be given back before the second round has another.
		first := b.hand(t, rule(queueing), "first"+bounded+" bare hang")
		time.Sleep(2 * runner.BareFirst)
		second := b.hand(t, rule(queueing), "second"+bounded+" result")
		b.line.refuse(nil)
		time.Sleep(time.Minute)
		if up.atOnce("u") != 1 {
			t.Errorf("%d at once", up.atOnce("u"))
		}
		b.mustState(t, first, Dispatched)
		b.mustState(t, second, Queued)
	})
}

// After a flush nobody knows which places are taken: they are given once the holders had
// the time to take theirs anew.
func TestPlacesAreNotGivenTwiceAfterAFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		at := newCell(memory(t))
		berths := startBerths(t, 2, settings{at: at}, up)
		time.Sleep(testLease / 2)
		first := berths[0].hand(t, rule(queueing), "first"+bounded+" hang")
		synctest.Wait()
		at.Store(memory(t))
		second := berths[1].hand(t, rule(queueing), "second"+bounded+" result")
		time.Sleep(time.Minute)
		if up.atOnce("u") != 1 {
			t.Errorf("%d at once", up.atOnce("u"))
		}
		berths[1].mustState(t, first, Dispatched)
		if _, err := berths[1].Steps.Cancel(t.Context(), first, somebody); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * places.Every)
		berths[0].mustState(t, second, Completed)
	})
}

// A store that was away, was not flushed and is the server that it was has lost no place: they are given at once, however often that
// happens. What a server that comes in its place holds is not known before all holders had their time.
func TestPlacesAreDoubtedOnlyWhereTheyMayBeLost(t *testing.T) {
	const lease = 15 * time.Second
	for name, loses := range map[string]func(*testing.T, *cell){
		"the same server": nil,
		"another one":     func(t *testing.T, at *cell) { at.Store(replica(t, at.Load())) },
		"it was flushed":  func(t *testing.T, at *cell) { _ = at.Load().Delete(t.Context(), "upgrade:epoch") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up, at := newTool(), newCell(memory(t))
				berths := startBerths(t, 2, settings{at: at, lease: lease}, up)
				time.Sleep(2 * lease)
				for n := range 4 {
					runs := berths[0].hand(t, rule(queueing), fmt.Sprintf("runs-%d%s hang", n, bounded))
					time.Sleep(2 * places.Every)
					berths[0].mustState(t, runs, Dispatched)
					for _, b := range berths {
						b.line.cut()
					}
					time.Sleep(lease / 2) // in which a lease could not be renewed
					if loses != nil {
						loses(t, at)
					}
					for _, b := range berths {
						b.line.mend()
					}
					waits := berths[1].hand(t, rule(queueing), fmt.Sprintf("waits-%d%s result", n, bounded))
					time.Sleep(2 * places.Every)
					berths[1].mustState(t, waits, Queued)
					if _, err := berths[1].Steps.Cancel(t.Context(), runs, somebody); err != nil {
						t.Fatal(err)
					}
					time.Sleep(2 * places.Every)
					if loses != nil {
						berths[1].mustState(t, waits, Queued)
						time.Sleep(2 * lease)
					}
					berths[1].mustState(t, waits, Completed)
				}
				if up.atOnce("u") != 1 {
					t.Errorf("%d at once", up.atOnce("u"))
				}
			})
		})
	}
}
