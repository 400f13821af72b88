package upgrade

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/trouble"
	"berth/routing"
	"berth/upgrade/task"
)

// leave has a berth hand over what it can, until the test ends.
func (b *berth) leave(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go b.HandOver(ctx)
}

// What was not sent is another berth's within a moment, and is sent once. What was sent and cannot
// be listened to elsewhere stays where it is, and ends there.
func TestLeavingBerthHandsOverWhatWasNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, book := newTool(), trouble.New(nil)
		berths := startBerths(t, 2, settings{book: book}, up)
		b, other := berths[0], berths[1]
		time.Sleep(2 * testLease) // until places are known
		bounded := rule(func(r *Rule) { r.Concurrency = 1 })
		running := b.hand(t, bounded, "running result/20s")
		synctest.Wait()
		var queued []string
		for i := range 3 {
			queued = append(queued, b.hand(t, bounded, fmt.Sprintf("queued-%d result/1s", i)))
			synctest.Wait()
		}
		b.leave(t)
		time.Sleep(time.Second)
		if held := b.Held(); held != 1 {
			t.Errorf("the berth that leaves holds %d calls, want the one that runs", held)
		}
		if held := other.Held(); held != 3 {
			t.Errorf("the other berth holds %d calls, want 3", held)
		}
		time.Sleep(30 * time.Second)
		for _, id := range append(queued, running) {
			other.mustState(t, id, Completed)
		}
		for i := range queued {
			if runs := up.executed[fmt.Sprintf("queued-%d 0", i)]; runs != 1 {
				t.Errorf("queued-%d ran %d times", i, runs)
			}
		}
		if left := other.members(t, other.ledger.Lists.TasksOf(b.ledger.Holder)); len(left) != 0 {
			t.Errorf("listed of the berth that leaves: %v", left)
		}
		if orphans, _ := book.Events(trouble.Orphans); len(orphans) != 0 {
			t.Errorf("got %+v: what was handed over is no orphan", orphans)
		}
	})
}

// A call whose stream can be resumed goes on at another berth at once, and its upstream is not told
// that anybody gave it up. The one that leaves still lives: nobody waits for its lease to end.
func TestLeavingBerthHandsOverWhatCanBeResumed(t *testing.T) {
	oldWorld(t, func(_ *testing.T, s *settings) { s.shared = true }, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		berths[0].leave(t)
		soon()
		if berths[0].Held() != 0 || berths[1].Held() != 1 {
			t.Fatalf("held: %d and %d, want the other one to hold it", berths[0].Held(), berths[1].Held())
		}
		at := berths[0].runner.Pools.Get(poolName).Routing.Upstreams()[0]
		if now := at.UnderWay(); now.Held != 1 || now.Left != 1 {
			t.Errorf("under way at its upstream: %+v, want what was left to count until others count it", now)
		}
		old.call(t, 0).answer(`{}`)
		soon()
		berths[1].mustState(t, id, Completed)
		if told := old.told(); len(told) != 0 || old.executions() != 1 {
			t.Errorf("told %v, ran %d times", told, old.executions())
		}
	})
}

// A call that runs goes on at another berth where who sends it can have it do so: it ends its round with one that asks for nothing, and that is another
// berth's to send. Nobody is told to where no other berth stands, or none could send it.
func TestLeavingBerthHandsOverWhatCanBeSentAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		berths int
		moves  bool
	}{"to another": {2, true}, "to nobody": {1, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := newTool()
				berths := startBerths(t, tc.berths, settings{}, up)
				time.Sleep(2 * testLease)
				id := berths[0].hand(t, rule(nil), "x leave/20s result/1s")
				synctest.Wait()
				berths[0].leave(t)
				time.Sleep(2 * time.Second)
				if held := berths[0].Held(); (held == 0) != tc.moves {
					t.Errorf("the berth that leaves holds %d calls", held)
				}
				if runs := up.times("x", 1); (runs == 1) != tc.moves {
					t.Errorf("the next round was sent %d times", runs)
				}
				time.Sleep(30 * time.Second)
				berths[len(berths)-1].mustState(t, id, Completed)
				if up.times("x", 0) != 1 || up.times("x", 1) != 1 {
					t.Errorf("rounds: %v", up.all())
				}
			})
		})
	}
}

// A berth that does not know the upstream of a call, which has left its source or file, looks for it where berths write theirs down.
func TestCallGoesOnAtABerthThatLooksForItsUpstream(t *testing.T) {
	oldWorld(t, func(_ *testing.T, s *settings) { s.shared = true }, func(t *testing.T, berths []*berth, old *oldServer) {
		berths[1].forgetUpstreams()
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		berths[0].leave(t)
		soon()
		if berths[1].Held() != 1 {
			t.Fatal("the other one does not hold it")
		}
		old.call(t, 0).answer(`{}`)
		soon()
		berths[1].mustState(t, id, Completed)
		if old.executions() != 1 {
			t.Errorf("ran %d times", old.executions())
		}
	})
}

// So does one to which a call is handed over that waits for its turn, and is to be made in a session there. It has it once the call before it,
// whose place the other berth had taken, is over.
func TestACallIsMadeByABerthThatLooksForItsUpstream(t *testing.T) {
	oldWorld(t, func(_ *testing.T, s *settings) { s.shared = true }, func(t *testing.T, berths []*berth, old *oldServer) {
		time.Sleep(2 * testLease) // until places are known
		bounded := rule(func(r *Rule) { r.Concurrency = 1 })
		berths[0].handCore(t, bounded, 0)
		soon()
		queued := berths[0].handCore(t, bounded, 0)
		soon()
		berths[1].forgetUpstreams()
		berths[0].leave(t)
		soon()
		old.call(t, 0).answer(`{}`)
		time.Sleep(20 * time.Second)
		old.call(t, 1).answer(`{}`)
		soon()
		berths[1].mustState(t, queued, Completed)
	})
}

// forgetUpstreams has the berth know of its upstreams only once it looks for one, as where they have left its source or file.
func (b *berth) forgetUpstreams() {
	pool := &b.runner.Pools.Get(poolName).Routing
	left := []*routing.Upstream{{Name: "other", URL: &url.URL{}}}
	for _, u := range (*pool).Upstreams() {
		left = append(left, &routing.Upstream{Name: u.Name, URL: u.URL, Draining: true})
	}
	var found sync.Once
	*pool = routing.NewPool(routing.PoolOptions{Name: poolName, Upstreams: left[:1], Seek: func(context.Context, string) {
		found.Do(func() { (*pool).Replace(left) })
	}})
}

// What runs in a session of this process's would be lost with it: it has its time here.
func TestLeavingBerthKeepsWhatIsTiedToIt(t *testing.T) {
	oldWorld(t, func(_ *testing.T, s *settings) { s.shared = true }, func(t *testing.T, berths []*berth, old *oldServer) {
		berths[0].runner.Pools.Get(poolName).Tied = func(*routing.Upstream) bool { return true }
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		berths[0].leave(t)
		soon()
		if berths[0].Held() != 1 {
			t.Error("it was given up")
		}
		old.call(t, 0).answer(`{}`)
		soon()
		berths[1].mustState(t, id, Completed)
	})
}

// Where nobody else stands nothing is let go of: it has its time here.
func TestLastBerthHandsNothingOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		time.Sleep(2 * testLease)
		bounded := rule(func(r *Rule) { r.Concurrency = 1 })
		b.hand(t, bounded, "running result/2s")
		synctest.Wait()
		queued := b.hand(t, bounded, "queued result/1s")
		b.leave(t)
		time.Sleep(5 * time.Second)
		b.mustState(t, queued, Completed)
	})
}

// oldWaiting is a client that waits for the answer itself, of a server of the legacy era.
type oldWaiting struct {
	waiting
	old *oldServer
}

func (w *oldWaiting) Send(ctx context.Context, _ *routing.Upstream, c *Call, _ int64) (Exchange, error) {
	return w.old.open(ctx, w.b, c)
}

// A client that waits for the answer itself waits here, though the call could be resumed elsewhere;
// until it has the handle.
func TestLeavingBerthKeepsWhomAClientWaitsAt(t *testing.T) {
	oldWorld(t, func(_ *testing.T, s *settings) { s.shared = true }, func(t *testing.T, berths []*berth, old *oldServer) {
		b := berths[0]
		c := creation(rule(nil), "call")
		c.Version, c.Core, c.Session, c.Prefer, c.Call.Session = "2025-11-25", true, clientsSession, "u", "the upstream's"
		h, err := b.Maker.Create(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		h.Start(&oldWaiting{waiting: waiting{b: b}, old: old})
		soon()
		b.leave(t)
		soon()
		if b.Held() != 1 {
			t.Error("its client waits in vain")
		}
		h.Handed()
		soon()
		if b.Held() != 0 || berths[1].Held() != 1 {
			t.Errorf("held once it has the handle: %d and %d, want the other one to hold it", b.Held(), berths[1].Held())
		}
	})
}

// Nor is its call parted from, until it has the handle.
func TestLeavingBerthPartsFromNoCallThatAClientWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		time.Sleep(2 * testLease)
		h, err := berths[0].Maker.Create(t.Context(), creation(rule(nil), "x leave/20s result/1s"))
		if err != nil {
			t.Fatal(err)
		}
		h.Start(&waiting{up: up, b: berths[0]})
		synctest.Wait()
		berths[0].leave(t)
		time.Sleep(5 * time.Second)
		if state := h.Task().State; state != Dispatched || up.times("x", 1) != 0 {
			t.Errorf("while its client waits its round is over, and it is %s", state)
		}
		id := handle(h)
		time.Sleep(3 * time.Second)
		if held := berths[0].Held(); held != 0 {
			t.Errorf("the berth that leaves holds %d calls once its client has the handle", held)
		}
		berths[1].mustState(t, id, Completed)
		if up.times("x", 0) != 1 || up.times("x", 1) != 1 {
			t.Errorf("rounds: %v", up.all())
		}
	})
}

// A call that runs has its place at its upstream while it changes hands: no other is sent there.
func TestHandingOverGivesNoPlaceTwice(t *testing.T) {
	oldWorld(t, func(_ *testing.T, s *settings) { s.shared = true }, func(t *testing.T, berths []*berth, old *oldServer) {
		bounded := rule(func(r *Rule) { r.Concurrency = 1 })
		running := berths[0].handCore(t, bounded, 0)
		soon()
		waits := berths[1].handCore(t, bounded, 0)
		soon()
		berths[0].leave(t)
		for range 60 {
			time.Sleep(50 * time.Millisecond)
			synctest.Wait()
			if n := old.executions(); n != 1 {
				t.Fatalf("%d calls run at once", n)
			}
		}
		if berths[1].Held() != 2 {
			t.Fatalf("the other one holds %d calls, want 2", berths[1].Held())
		}
		old.call(t, 0).answer(`{}`)
		soon()
		soon()
		berths[1].mustState(t, running, Completed)
		old.call(t, 1).answer(`{}`)
		soon()
		berths[1].mustState(t, waits, Completed)
	})
}

// Once a holder has left a call, no step of its own is taken any more: neither is it sent, nor
// does an answer that comes late count.
func TestHolderTakesNoStepBehindItsLeave(t *testing.T) {
	accepted := &task.Task{ID: "T", State: task.Accepted, Holder: "a"}
	left, changed, err := task.Transition(accepted, &task.Op{ID: "1", Kind: task.Leave, Holder: "a"})
	if !changed || err != nil {
		t.Fatalf("got %v, %v", changed, err)
	}
	for _, kind := range []task.Kind{task.Dispatch, task.Finish, task.Hand, task.Leave} {
		if _, _, err := task.Transition(left, &task.Op{ID: "2", Kind: kind, Holder: "a", Round: 1, End: Failed}); !errors.Is(err, task.ErrStale) {
			t.Errorf("%s: got %v, want ErrStale", kind, err)
		}
	}
	next, changed, err := task.Transition(left, &task.Op{ID: "3", Kind: task.Adopt, Of: "a", Holder: "b"})
	if !changed || err != nil || next.Left || next.Holder != "b" {
		t.Errorf("got %+v, %v", next, err)
	}
}

// A call that is cut at the end of the drain, and that another berth makes again, counts until that has it.
func TestACallThatIsCutCountsUntilItIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		berths[0].line.lasts = true
		time.Sleep(2 * testLease)
		id := berths[0].hand(t, rule(func(r *Rule) { r.OnOrphan = task.OrphanRerun }), "call result/20s")
		time.Sleep(2 * time.Second)
		berths[0].mustState(t, id, Dispatched)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		berths[0].Drain(ctx)
		if now := berths[0].runner.Pools.Get(poolName).Routing.Upstreams()[0].UnderWay(); now.Held != 1 || now.Left != 1 {
			t.Errorf("under way at its upstream: %+v", now)
		}
		time.Sleep(time.Minute)
		berths[1].mustState(t, id, Completed)
	})
}

// A call that was parted from waits for its turn to be handed over, for a moment: of many it is not the first. Where nobody takes it, it goes on here.
func TestACallThatWasPartedFromWaitsToBeHandedOver(t *testing.T) {
	for _, handed := range []bool{true, false} {
		t.Run(fmt.Sprint(handed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := newTool()
				berths := startBerths(t, 2, settings{}, up)
				time.Sleep(2 * testLease)
				id := berths[0].hand(t, rule(nil), "x leave/20s result/1s")
				synctest.Wait()
				berths[0].runner.Part()
				time.Sleep(1500 * time.Millisecond)
				if runs := up.times("x", 1); runs != 0 {
					t.Errorf("the next round was sent %d times", runs)
				}
				if handed {
					berths[0].leaveToOthers(t, id)
					if held := berths[0].Held(); held != 0 {
						t.Errorf("it holds %d calls", held)
					}
				}
				time.Sleep(5 * time.Second)
				berths[0].mustState(t, id, Completed)
				if up.times("x", 0) != 1 || up.times("x", 1) != 1 {
					t.Errorf("rounds: %v", up.all())
				}
			})
		})
	}
}
