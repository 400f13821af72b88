package upgrade

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/ledger"
)

// startFresh starts one more berth on a store, which it has not seen before.
func startFresh(t testing.TB, s settings, up *tool) *berth {
	t.Helper()
	b := newBerth(s, up)
	b.line.since = time.Now()
	b.run()
	t.Cleanup(b.kill)
	return b
}

// promised is when the tasks of a dead holder have ended, at the latest.
const promised = testLease * 5 / 3

// looking is how long the one who finds a holder dead may take for it, in these tests.
const looking = testLease / 30

// Berths die all the time, each long before it could have seen the store be well for as
// long as a lease lives. What they held is seen to in time all the same.
func TestBerthsThatDieSoonSeeToTheDead(t *testing.T) {
	for name, next := range map[string]func(death, n int) int{
		"in turn":   func(death, n int) int { return death % n },
		"at random": func(_, n int) int { return rand.IntN(n) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := newTool()
				s := settings{at: newCell(memory(t)), keys: givenKeys(t), shared: true}
				var live []*berth
				for range 3 {
					live = append(live, startFresh(t, s, up))
				}
				time.Sleep(testLease)
				held := map[string]time.Time{} // by task: when its holder died
				for death := range 60 {
					dies := next(death, len(live))
					id := live[dies].hand(t, rule(nil), "call hang")
					synctest.Wait()
					live[dies].kill()
					held[id] = time.Now()
					time.Sleep(testLease / 30)
					live[dies] = startFresh(t, s, up)
					time.Sleep(testLease/3 - testLease/30)
					for id, died := range held {
						if live[0].see(t, id).State == Failed {
							delete(held, id)
						} else if since := time.Since(died); since > promised+looking {
							t.Fatalf("death %d: the task of a berth that died %v ago has not ended", death, since)
						}
					}
				}
			})
		})
	}
}

// A berth alone that dies, and is started again at once, takes its own word from before.
func TestBerthThatDiesSoonSeesToItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		s := settings{at: newCell(memory(t)), keys: givenKeys(t), shared: true}
		b := startFresh(t, s, up)
		id := b.hand(t, rule(nil), "call hang")
		synctest.Wait()
		b.kill()
		died := time.Now()
		for time.Since(died) < promised {
			time.Sleep(testLease / 30)
			b = startFresh(t, s, up)
			time.Sleep(testLease * 2 / 3)
			if time.Since(died) > promised {
				break
			}
			b.kill()
		}
		b.mustState(t, id, Failed)
	})
}

// Nobody's word is good after a time in which the store may have been away: a berth that
// starts after an outage, shorter than a lease, waits for those who live and are late.
func TestWordDoesNotReachAcrossAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		s := settings{at: newCell(memory(t)), keys: givenKeys(t), shared: true}
		late := startFresh(t, s, up)
		time.Sleep(testLease/3 - testLease/30)
		other := startFresh(t, s, up) // renews its lease shortly before the other one
		time.Sleep(2 * testLease)
		id := late.hand(t, rule(nil), "call hang")
		synctest.Wait()
		for _, b := range []*berth{late, other} {
			b.line.cut()
		}
		time.Sleep(testLease * 4 / 5)
		fresh := startFresh(t, s, up)
		if _, err := fresh.line.at.Load().Get(t.Context(), fresh.ledger.Lists.LeaseOf(other.ledger.Holder)); err != nil {
			t.Fatalf("no word stands: %v", err)
		}
		time.Sleep(testLease - time.Millisecond)
		for _, b := range []*berth{late, other} {
			b.line.mend()
		}
		time.Sleep(time.Second)
		late.mustState(t, id, Dispatched)
	})
}

// Whoever has seen the store lose something believes nobody who has not.
func TestWordIsNothingToWhoKnowsBetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newCell(memory(t))
		s := settings{at: at, keys: givenKeys(t), shared: true}
		old := startFresh(t, s, newTool())
		time.Sleep(3 * testLease)
		young := startFresh(t, s, newTool())
		time.Sleep(testLease / 2)
		if !young.ledger.Epoch.IsStable() {
			t.Error("a berth that has started does not believe who has seen the store be well")
		}
		before, _ := ledger.DecodeWord(leaseOf(t, at, old))
		if !before.Since.Before(before.Said.Add(-2 * testLease)) {
			t.Errorf("the older one says %v", before)
		}
		for _, back := range young.line.hooks {
			back()
		}
		time.Sleep(testLease / 2)
		if young.ledger.Epoch.IsStable() {
			t.Error("it believes a word about a store that it has seen lose something")
		}
		time.Sleep(testLease / 12)
		at.Store(memory(t)) // a flush: what is said now is said of the new one
		time.Sleep(testLease / 3)
		if w, ok := ledger.DecodeWord(leaseOf(t, at, old)); !ok || w.Said.Sub(w.Since) > testLease/2 {
			t.Errorf("after a flush the older one says %v", w)
		}
		newest := startFresh(t, s, newTool())
		time.Sleep(testLease / 3)
		if newest.ledger.Epoch.IsStable() {
			t.Error("a berth that starts after a flush takes the store for steady")
		}
	})
}

func leaseOf(t testing.TB, at *cell, b *berth) []byte {
	t.Helper()
	lease, err := at.Load().Get(t.Context(), b.ledger.Lists.LeaseOf(b.ledger.Holder))
	if err != nil {
		t.Fatal(err)
	}
	return lease.Value
}

// Who stood still has not seen what was meanwhile, and does not say that it has.
func TestWordTellsOfWhatItsTellerSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := settings{at: newCell(memory(t)), keys: givenKeys(t), shared: true}
		b := startFresh(t, s, newTool())
		time.Sleep(3 * testLease)
		b.line.freeze()
		time.Sleep(testLease * 5 / 6)
		b.line.thaw()
		time.Sleep(testLease / 2)
		if w, ok := ledger.DecodeWord(leaseOf(t, s.at, b)); !ok || w.Said.Sub(w.Since) > testLease {
			t.Errorf("got %v of a holder that stood still for %v", w, testLease*5/6)
		}
	})
}

// When the store is back, who lives says so at once, and not at its next beat.
func TestLeaseIsRenewedWhenTheStoreIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := settings{at: newCell(memory(t)), keys: givenKeys(t), shared: true}
		b := startFresh(t, s, newTool())
		time.Sleep(testLease + testLease/10)
		b.line.cut()
		time.Sleep(2 * testLease)
		b.line.mend()
		back := time.Now()
		synctest.Wait()
		w, ok := ledger.DecodeWord(leaseOf(t, s.at, b))
		if said := b.ledger.Clock.Here(w.Said); !ok || said.Before(back) {
			t.Errorf("said %v, after %v", said, back)
		}
	})
}
