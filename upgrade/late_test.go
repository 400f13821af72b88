package upgrade

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// Of berths that live no task fails, though single replies of the store are late: a client
// repeats under its key what did not become a task for all that it knows.
func TestLateRepliesOrphanNothing(t *testing.T) {
	t.Parallel()
	for seed := range 3 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up := newTool()
				reader := sdkmetric.NewManualReader()
				meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
				berths := startBerths(t, 2, settings{lease: defaultLease, meter: meter}, up)
				time.Sleep(defaultLease)
				lagging(berths, uint64(seed), 15)
				var clients sync.WaitGroup
				for n := range 300 {
					clients.Go(func() {
						time.Sleep(time.Duration(n) * 20 * time.Millisecond)
						callUnderKey(t, berths, n)
					})
				}
				clients.Wait()
				if orphans := counts(t, reader, "berth.upgrade.orphans"); len(orphans) > 0 {
					t.Errorf("%v tasks were taken for those of a dead holder", orphans)
				}
				for call, n := range up.all() {
					if n > 1 {
						t.Errorf("%s ran %d times", call, n)
					}
				}
				time.Sleep(defaultLease) // what the gauges have read anew ends
			})
		})
	}
}

// callUnderKey makes a call until it is a task, and polls that until its end.
func callUnderKey(t *testing.T, berths []*berth, n int) {
	c := creation(rule(nil), fmt.Sprintf("call-%d result/20s", n))
	id := ""
	for attempt := 0; id == ""; attempt++ {
		if attempt == 60 {
			t.Errorf("call %d became no task", n)
			return
		}
		b := berths[(n+attempt)%len(berths)]
		h, earlier, err := b.Maker.CreateOnce(context.Background(), c, fmt.Sprint("key-", n), nil)
		switch {
		case err != nil:
			time.Sleep(time.Second)
		case h == nil:
			id = earlier.ID
		default:
			h.Start(nil)
			id = handle(h)
		}
	}
	for poll := 0; ; poll++ {
		v, err := berths[n%len(berths)].Reader.Get(context.Background(), id, somebody)
		switch {
		case err == nil && v.State == Completed:
			return
		case err == nil && v.State.Terminal():
			t.Errorf("call %d %s: %s", n, v.State, v.Outcome)
			return
		case poll == 120:
			t.Errorf("call %d is %s, %v", n, v.State, err)
			return
		}
		time.Sleep(time.Second)
	}
}

// A task of which the client has its answer is forgotten, however late the store says so:
// that it is listed until then makes it no orphan, which would be called again.
func TestTaskThatIsBeingForgottenIsNoOrphan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		b := startBerths(t, 1, settings{shared: true}, up)[0]
		time.Sleep(testLease / 2)
		id := b.hand(t, rule(func(r *Rule) { r.OnOrphan = task.OrphanRerun }), "call hang")
		synctest.Wait()
		b.line.refuse(func(op, _ string) bool { return op == "delete" || op == "delist" })
		b.runner.Calls.Get(id).Discard()
		time.Sleep(2 * testLease)
		if n := up.times("call", 0); n != 1 {
			t.Errorf("ran %d times", n)
		}
		b.line.refuse(nil)
		time.Sleep(testLease)
		if left := b.members(t, b.ledger.Lists.TasksOf(b.ledger.Holder)); len(left) > 0 || b.Held() > 0 {
			t.Errorf("%v is listed, %d calls are held", left, b.Held())
		}
		if _, err := b.ledger.Records.Get(t.Context(), id); !errors.Is(err, ErrUnknown) {
			t.Errorf("got %v, want ErrUnknown", err)
		}
	})
}

// A creation whose end was unknown, and that is gone on with, keeps no beat waiting for the
// end of its call.
func TestBeatsGoOnWhileACreationThatWasUnknownRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		b := startBerths(t, 1, settings{shared: true}, up)[0]
		time.Sleep(testLease / 2)
		c := creation(rule(nil), "call hang")
		once, err := b.Maker.once(t.Context(), &c, "k")
		if err != nil {
			t.Fatal(err)
		}
		recorded := func() bool {
			key, err := b.line.at.Load().Get(t.Context(), ledger.OnceKey(once))
			return err == nil && strings.Contains(string(key.Value), "recorded")
		}
		b.line.muteOne(recorded)
		if _, _, err := b.Maker.CreateOnce(t.Context(), c, "k", nil); !errors.Is(err, storage.ErrUnavailable) {
			t.Fatalf("got %v, want ErrUnavailable", err)
		}
		b.line.muteOne(nil)
		late := true
		b.line.refuse(func(op, key string) bool { // the next look at the key, not the one after it
			refused := late && key == ledger.OnceKey(once)
			late = late && !refused
			return refused
		})
		time.Sleep(2 * b.ledger.Epoch.Beat())
		if n := up.times("call", 0); n != 1 {
			t.Fatalf("ran %d times, want once", n)
		}
		time.Sleep(b.ledger.Epoch.Beat())
		b.line.note()
		time.Sleep(2 * b.ledger.Epoch.Beat())
		if asked := "members " + b.ledger.Lists.TasksOf(b.ledger.Holder); !slices.Contains(b.line.asked(), asked) {
			t.Errorf("no beat: asked for %v", b.line.asked())
		}
	})
}

// A flush costs no result of a berth that lives, and no task is called unknown, though
// single replies of the store are late meanwhile.
func TestFlushWithLateRepliesLosesNoResult(t *testing.T) {
	t.Parallel()
	for seed := range 3 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				up, at := newTool(), newCell(memory(t))
				berths := startBerths(t, 2, settings{at: at, lease: defaultLease}, up)
				time.Sleep(defaultLease)
				var ids []string
				for n := range 150 { // half of them end while the flush is mended, the others long after
					ids = append(ids, berths[n%2].hand(t, rule(nil), fmt.Sprintf("call-%d result/%v", n, time.Duration(n%2*60+5)*time.Second+time.Duration(n)*10*time.Millisecond)))
				}
				time.Sleep(4 * time.Second)
				lagging(berths, uint64(seed), 10)
				at.Store(memory(t))
				done := map[string]bool{}
				for range 90 {
					time.Sleep(time.Second)
					for n, id := range ids {
						v, err := berths[(n+1)%2].Reader.Get(t.Context(), id, somebody)
						switch {
						case errors.Is(err, ErrUnknown), err == nil && v.State.Terminal() && v.State != Completed:
							t.Fatalf("call %d is %s %s, %v", n, v.State, v.Outcome, err)
						case err == nil:
							done[id] = v.State == Completed
						}
					}
				}
				for n, id := range ids {
					if !done[id] {
						t.Errorf("call %d has not ended", n)
					}
				}
			})
		})
	}
}

// lagging has one in so many replies to berths be late by 0.1 to 0.6 s.
func lagging(berths []*berth, seed uint64, every int) {
	var mu sync.Mutex // guards chance
	chance := rand.New(rand.NewPCG(1, seed))
	for _, b := range berths {
		b.line.lag(func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			if chance.IntN(every) > 0 {
				return 0
			}
			return 100*time.Millisecond + time.Duration(chance.IntN(500))*time.Millisecond
		})
	}
}

// A question that the store keeps and does not confirm, as one with too few replicas, shows at once; its call is held until it is
// confirmed. Who answers meanwhile waited for that, however long it took.
func TestAnAnswerDoesNotWaitForTheStoreToConfirmItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		id := b.hand(t, rule(nil), "asks ask:k/1s result")
		time.Sleep(500 * time.Millisecond)
		b.line.muteOne(func() bool { return true })
		time.Sleep(time.Second)
		b.mustState(t, id, InputRequired)
		answered := func() error { return b.Steps.Update(t.Context(), id, somebody, inputs("k", "1"), &Envelope{}) }
		began := time.Now()
		if err := answered(); !errors.Is(err, storage.ErrUnavailable) || time.Since(began) > ledger.StoreTime {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		b.line.muteOne(nil)
		time.Sleep(testLease)
		if err := answered(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		b.mustState(t, id, Completed)
	})
}
