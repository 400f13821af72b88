package upgrade

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// startBehindClock starts berths whose clocks are not the store's.
func startBehindClock(t *testing.T, n int, ahead time.Duration, up *tool) []*berth {
	t.Helper()
	s := settings{at: newCell(memory(t)), keys: givenKeys(t), shared: true}
	var berths []*berth
	for range n {
		b := newBerth(s, up)
		b.line.ahead = ahead
		berths = append(berths, b)
		b.run()
		t.Cleanup(b.stop)
	}
	return berths
}

// eachClock runs a test with clocks that are ten minutes off, to either side, and right.
func eachClock(t *testing.T, run func(t *testing.T, ahead time.Duration)) {
	for _, ahead := range []time.Duration{-10 * time.Minute, 0, 10 * time.Minute} {
		t.Run(fmt.Sprint(ahead), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { run(t, ahead) })
		})
	}
}

// A task lives by the store's clock, whatever that of a berth says: calls that another
// berth took over are not cut short, and what they return is kept to the end.
func TestClocksOfBerthsDoNotCount(t *testing.T) {
	eachClock(t, func(t *testing.T, ahead time.Duration) {
		berths := startBehindClock(t, 3, ahead, newTool())
		again := rule(func(r *Rule) { r.TTL, r.OnOrphan = 5*time.Minute, task.OrphanRerun })
		adopted := berths[0].hand(t, again, "adopted result/1m")
		orphaned := berths[0].hand(t, rule(func(r *Rule) { r.TTL = 5 * time.Minute }), "orphaned result/1m")
		asked := berths[1].hand(t, again, "asked ask:k result/1m")
		queued := berths[1].hand(t, rule(func(r *Rule) { r.TTL, r.Concurrency = 5*time.Minute, 1 }), "queued result/1m")
		synctest.Wait()
		berths[0].kill()
		if err := berths[2].Steps.Update(context.Background(), asked, somebody, inputs("k", `"v"`), &Envelope{Bare: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		for id, want := range map[string]State{adopted: Completed, orphaned: Failed, asked: Completed, queued: Completed} {
			if v := berths[1].mustState(t, id, want); len(v.Outcome) == 0 {
				t.Errorf("%s: the outcome is gone", id)
			}
		}
		time.Sleep(2*time.Minute + ledger.Spare + time.Second)
		for _, id := range []string{adopted, orphaned, asked, queued} {
			if _, err := berths[1].Reader.Get(context.Background(), id, somebody); err == nil {
				t.Errorf("%s: it is there after its life", id)
			}
		}
	})
}

// Clients compute from createdAt and ttlMs when a task ends: both are by the clock that
// ends it.
func TestTasksAreMadeByTheClockOfTheStore(t *testing.T) {
	eachClock(t, func(t *testing.T, ahead time.Duration) {
		b := startBehindClock(t, 1, ahead, newTool())[0]
		made := time.Now()
		id := b.hand(t, rule(nil), "made result")
		synctest.Wait()
		v := b.see(t, id)
		if off := v.Created.Sub(made.Add(ahead)).Abs(); off > time.Second {
			t.Errorf("created: %v off the store's clock", off)
		}
		if here := b.Reader.Expires(v.Task).Sub(made.Add(time.Hour)).Abs(); here > time.Second {
			t.Errorf("expires: %v off, as this process counts", here)
		}
	})
}
