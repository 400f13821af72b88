package upgrade

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/queues"
)

// queued are the names that a task has in the line of calls that queue.
func (b *berth) queued(t *testing.T, id string) []string {
	t.Helper()
	line := queues.WaitingIn(rule(queueing).Terms(poolName).Queue)
	return slices.DeleteFunc(b.members(t, line), func(name string) bool { return !strings.HasPrefix(name, id) })
}

// slowDown has the store answer late to the next call of b that notes that it has taken its place: it is in the
// line still.
func (b *berth) slowDown() {
	taking := false
	b.line.refuse(func(op, key string) bool {
		taking = taking || op == "put" && strings.HasPrefix(key, "upgrade:turn:")
		return false
	})
	b.line.lag(func() (late time.Duration) {
		if taking {
			late, taking = patience, false
		}
		return late
	})
}

// A call that was cancelled between taking its place and leaving the line stayed in the line: who came
// later was told a place too many.
func TestCallThatIsCancelledAsItTakesItsPlaceLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{shared: true}, newTool())
		time.Sleep(testLease)
		b := berths[0]
		b.slowDown()
		id := b.hand(t, rule(queueing), "call hang")
		synctest.Wait()
		if len(b.queued(t, id)) != 1 {
			t.Fatal("it is not on the way from the line to its place")
		}
		if _, err := berths[1].Steps.Cancel(t.Context(), id, somebody); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * patience)
		synctest.Wait()
		if names := b.queued(t, id); len(names) > 0 {
			t.Errorf("it is in the line still: %q", names)
		}
		if b.Held() > 0 {
			t.Error("it is held still")
		}
	})
}

// A call that is handed over as it takes its place has its turn at the next berth.
func TestCallThatIsHandedOverAsItTakesItsPlaceKeepsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{shared: true, keys: givenKeys(t)}, newTool())
		time.Sleep(testLease)
		b := berths[0]
		b.slowDown()
		id := b.hand(t, rule(queueing), "call hang")
		synctest.Wait()
		behind := berths[1].hand(t, rule(queueing), "behind hang")
		synctest.Wait()
		leaving, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		b.HandOver(leaving)
		b.kill()
		time.Sleep(time.Minute)
		berths[1].mustState(t, id, Dispatched)
		berths[1].mustState(t, behind, Queued)
	})
}

// Who has a place leaves the line also if the store does not take that at once.
func TestCallLeavesTheLineOnceTheStoreTakesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		time.Sleep(testLease)
		b.line.refuse(func(op, key string) bool { return op == "delist" && strings.HasPrefix(key, "upgrade:queue:") })
		id := b.hand(t, rule(queueing), "call hang")
		synctest.Wait()
		b.mustState(t, id, Dispatched)
		b.line.refuse(nil)
		time.Sleep(2 * b.ledger.Epoch.Beat())
		synctest.Wait()
		if names := b.queued(t, id); len(names) > 0 {
			t.Errorf("it is in the line still: %q", names)
		}
	})
}

// A call whose round two berths gave out at once takes a later one. It stands in the line under one
// name at a time, and leaves under that.
func TestCallThatTakesALaterRoundHasOneTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		time.Sleep(testLease)
		b.hand(t, rule(queueing), "first hang")
		b.hand(t, rule(queueing), "before hang")
		synctest.Wait()
		id := b.hand(t, rule(queueing), "call hang")
		synctest.Wait()
		line := queues.WaitingIn(rule(queueing).Terms(poolName).Queue)
		before, own := queues.ReadTurn(b.members(t, line)[0]), queues.ReadTurn(b.members(t, line)[1])
		_, rest, _ := strings.Cut(before.Name, " ")
		b.line.refuse(func(op, key string) bool { return op == "delist" && key == line })
		if err := b.line.at.Load().RemoveMember(t.Context(), line, own.Name); err != nil {
			t.Fatal(err)
		}
		if err := b.line.at.Load().AddMember(t.Context(), line, id+" "+rest, time.Hour, 0); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			time.Sleep(time.Second)
			synctest.Wait()
			if names := b.queued(t, id); len(names) != 1 {
				t.Fatalf("it stands as %q", names)
			}
		}
		b.line.refuse(nil)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if names := b.queued(t, id); len(names) != 1 || queues.ReadTurn(names[0]).Round <= before.Round {
			t.Fatalf("it stands as %q, after %q", names, before.Name)
		}
		if _, err := b.Steps.Cancel(t.Context(), id, somebody); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if names := b.queued(t, id); len(names) > 0 {
			t.Errorf("it is in the line still: %q", names)
		}
	})
}
