package upgrade

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/places"
	"berth/upgrade/queues"
)

// record is what stands under a key, whatever the berth's line is like.
func (b *berth) record(t *testing.T, key string) storage.Record {
	t.Helper()
	r, err := b.line.at.Load().Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fallBack has a record stand as it did before, as after the fail-over of the one server of several that has it.
func (b *berth) fallBack(t *testing.T, key string, was storage.Record) {
	t.Helper()
	store := b.line.at.Load()
	if err := store.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	now, _, err := store.PutIfAbsent(t.Context(), key, was.Value, time.Hour)
	for err == nil && now.Version < was.Version {
		now, err = store.Swap(t.Context(), key, now.Version, was.Value, storage.KeepTTL)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// soonSeen is when what was asked of a berth has been seen to by the holder, which lives: both have had a beat.
const soonSeen = 2*testLease/3 + time.Second

// One server of several falls back to a state in which a call ran that has ended. Whoever is asked for it, its holder, which lives, ends it
// as it did before, if it remembers; and the tool is not run again, though the record may say that the call is yet to be sent.
func TestTaskWhoseEndIsLostEndsAgainThoughItsHolderLives(t *testing.T) {
	for name, c := range map[string]struct {
		asked             int
		unsent, forgotten bool
	}{
		"asked of its holder":       {asked: 0},
		"asked of another":          {asked: 1},
		"before it was sent":        {asked: 1, unsent: true},
		"which is not remembered":   {asked: 1, forgotten: true},
		"unsent and not remembered": {asked: 0, unsent: true, forgotten: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := newTool()
				berths := startBerths(t, 2, settings{}, up)
				time.Sleep(2 * testLease)
				argument := "call result/2s"
				if c.forgotten {
					argument = "call big:30/2s" // more than is kept for that
				}
				if c.unsent {
					berths[1].hand(t, rule(queueing), "before result/2s")
					synctest.Wait()
				}
				id := berths[0].hand(t, rule(queueing), argument)
				synctest.Wait()
				was := berths[0].record(t, ledger.TaskKey(id))
				time.Sleep(10 * time.Second)
				ended := berths[1].mustState(t, id, Completed)
				berths[0].fallBack(t, ledger.TaskKey(id), was)
				berths[c.asked].mustState(t, id, map[bool]State{true: Queued, false: Dispatched}[c.unsent])
				time.Sleep(soonSeen)
				if up.times("call", 0) != 1 {
					t.Errorf("ran %d times", up.times("call", 0))
				}
				v := berths[1].see(t, id)
				if !c.forgotten {
					if v.State != Completed || string(v.Outcome) != string(ended.Outcome) {
						t.Errorf("it is %s with %s, was %s", v.State, v.Outcome, ended.Outcome)
					}
					return
				}
				if f := v.failure(t); f.Data.Reason != mcp.ReasonHolderLost || !*f.Data.MayHaveExecuted {
					t.Errorf("got %+v", f)
				}
				next := berths[1].hand(t, rule(queueing), "next result")
				time.Sleep(2 * places.Every)
				berths[1].mustState(t, next, Completed)
			})
		})
	}
}

// A cancelled call is not sent by a berth that is shown a record of before.
func TestCancelledTaskStaysCancelledThoughItsRecordFallsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		time.Sleep(2 * testLease)
		berths[1].hand(t, rule(queueing), "before result/5s")
		synctest.Wait()
		id := berths[0].hand(t, rule(queueing), "call result")
		synctest.Wait()
		was := berths[0].record(t, ledger.TaskKey(id))
		if _, err := berths[1].Steps.Cancel(t.Context(), id, somebody); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		berths[0].fallBack(t, ledger.TaskKey(id), was)
		berths[1].mustState(t, id, Queued)
		time.Sleep(soonSeen)
		berths[1].mustState(t, id, Cancelled)
		if up.times("call", 0) != 0 {
			t.Error("it ran")
		}
	})
}

// A call that is held is not ended by questions for it, whoever is asked.
func TestHeldCallIsNoStray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		time.Sleep(2 * testLease)
		ids := []string{berths[0].hand(t, rule(nil), "first hang"), berths[1].hand(t, rule(nil), "second hang")}
		for range 20 {
			time.Sleep(testLease / 3)
			for _, b := range berths {
				for _, id := range ids {
					b.mustState(t, id, Dispatched)
				}
			}
		}
		if n := up.times("first", 0) + up.times("second", 0); n != 2 {
			t.Errorf("ran %d times", n)
		}
	})
}

// A record that has fallen back to name the berth which handed the call over is put right by the one that holds it, if that is asked;
// the other one ends nothing before.
func TestCallThatWasHandedOverIsNotEndedByWhoLeftIt(t *testing.T) {
	for name, asked := range map[string]int{"asked of who left it": 0, "asked of who holds it": 1, "asked of a third": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := newTool()
				berths := startBerths(t, 3, settings{}, up)
				time.Sleep(2 * testLease)
				berths[2].hand(t, rule(queueing), "before result/1m")
				synctest.Wait()
				id := berths[0].hand(t, rule(queueing), "call result")
				synctest.Wait()
				was := berths[0].record(t, ledger.TaskKey(id))
				if berths[0].leaveToOthers(t, id); berths[2].runner.Calls.Get(id) != nil {
					berths[1], berths[2] = berths[2], berths[1]
				}
				time.Sleep(testLease)
				berths[1].fallBack(t, ledger.TaskKey(id), was)
				for range 10 {
					berths[asked].mustState(t, id, Queued)
					time.Sleep(testLease / 3)
				}
				if e := berths[1].see(t, id); e.Holder != berths[1].Holder() {
					t.Errorf("the record names %s still", e.Holder)
				}
				time.Sleep(time.Minute)
				berths[2].mustState(t, id, Completed)
				if up.times("call", 0) != 1 {
					t.Errorf("ran %d times", up.times("call", 0))
				}
			})
		})
	}
}

// leaveToOthers has another berth take over a task that this one lets go of, and goes on living.
func (b *berth) leaveToOthers(t *testing.T, id string) {
	t.Helper()
	if h := b.runner.Calls.Get(id); h != nil {
		b.runner.HandOver(t.Context(), []*Held{h})
	}
	synctest.Wait()
	b.ledger.Notices.Tell(t.Context(), "left:"+id)
	synctest.Wait()
}

// What was left to another berth, and has ended there, is not taken over again by who is told of it as left.
func TestCallThatWasTakenOverAndHasEndedIsNotTakenOverAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		time.Sleep(2 * testLease)
		berths[1].hand(t, rule(queueing), "before result/5s")
		synctest.Wait()
		id := berths[0].hand(t, rule(queueing), "call result")
		synctest.Wait()
		berths[0].runner.HandOver(t.Context(), []*Held{berths[0].runner.Calls.Get(id)})
		synctest.Wait()
		was := berths[0].record(t, ledger.TaskKey(id))
		berths[0].leaveToOthers(t, id)
		time.Sleep(10 * time.Second)
		berths[0].mustState(t, id, Completed)
		berths[0].fallBack(t, ledger.TaskKey(id), was)
		berths[0].leaveToOthers(t, id)
		berths[0].mustState(t, id, Completed)
		if up.times("call", 0) != 1 {
			t.Errorf("ran %d times", up.times("call", 0))
		}
	})
}

// A server that falls back has given again places, and turns, of calls that are over. They fall free within two beats, though the berths
// that had them live, and nobody but another one waits.
func TestPlacesThatCameBackFallFreeThoughTheirHolderLives(t *testing.T) {
	for name, gone := range map[string]bool{"of a task that has ended": false, "of a task that is forgotten": true} {
		for _, queued := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", also in the queue: ", queued), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					two := rule(func(r *Rule) { r.Concurrency = 2 })
					up := newTool()
					berths := startBerths(t, 2, settings{}, up)
					a, b := berths[0], berths[1]
					time.Sleep(2 * testLease)
					terms, came := two.Terms(poolName), map[string]bool{}
					slots, line := b.ledger.Lists.SlotsOf(terms.Queue, "u"), queues.WaitingIn(terms.Queue)
					var ids []string
					var was storage.Record
					for n := range 3 {
						ids = append(ids, a.hand(t, two, fmt.Sprint("call-", n, " result/2s")))
						synctest.Wait()
						for _, list := range []string{slots, line} {
							for _, member := range a.members(t, list) {
								came[list+"|"+member] = true
							}
						}
					}
					was = a.record(t, ledger.TaskKey(ids[2]))
					time.Sleep(10 * time.Second)
					for one := range came {
						list, member, _ := strings.Cut(one, "|")
						if list == line && !queued || strings.HasPrefix(member, ids[2]) && list == slots {
							continue
						}
						if err := b.line.at.Load().AddMember(t.Context(), list, member, time.Hour, 0); err != nil {
							t.Fatal(err)
						}
					}
					if queued { // its record has fallen back as well
						b.fallBack(t, ledger.TaskKey(ids[2]), was)
					}
					if gone {
						for _, id := range ids[:2] {
							if err := b.line.at.Load().Delete(t.Context(), ledger.TaskKey(id)); err != nil {
								t.Fatal(err)
							}
						}
					}
					id := b.hand(t, two, "next result")
					time.Sleep(soonSeen + 2*places.Every)
					b.mustState(t, id, Completed)
					if left := b.members(t, slots); len(left) != 0 {
						t.Errorf("taken are still %q", left)
					}
					if up.times("call-2", 0) != 1 {
						t.Errorf("the last ran %d times", up.times("call-2", 0))
					}
				})
			})
		}
	}
}

// Places of calls that run stay taken, whoever looks for one and asks about them.
func TestPlacesThatAreHeldAreNotGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		time.Sleep(2 * testLease)
		berths[0].hand(t, rule(queueing), "first"+bounded+" hang")
		synctest.Wait()
		waits := berths[1].hand(t, rule(queueing), "second"+bounded+" result")
		time.Sleep(time.Minute)
		berths[0].mustState(t, waits, Queued)
		if up.atOnce("u") != 1 {
			t.Errorf("%d at once", up.atOnce("u"))
		}
	})
}
