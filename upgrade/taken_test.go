package upgrade

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/task"
)

// Whoever takes a holder for dead may act on it as that comes back, and has found its calls its own: it is to find
// out with the next beat that they are not.
func TestHolderThatCameBackTooLateEndsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		a, b := berths[0], berths[1]
		time.Sleep(time.Second + testLease/6)
		id := a.hand(t, rule(func(r *Rule) { r.OnOrphan = task.OrphanRerun }), "call hang")
		synctest.Wait()
		e, err := b.ledger.Records.Get(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		op := b.ledger.Op(task.Adopt)
		op.Of = a.Holder()
		if _, err := b.ledger.Records.Apply(context.Background(), e, op); err != nil {
			t.Fatal(err)
		}
		delist(t, b, b.ledger.Lists.TasksOf(a.Holder()), id)
		time.Sleep(a.ledger.Epoch.Beat())
		synctest.Wait()
		if n := a.Held(); n != 0 {
			t.Errorf("%d calls are held", n)
		}
		if listed := b.members(t, b.ledger.Lists.TasksOf(a.Holder())); len(listed) > 0 {
			t.Errorf("%q are listed", listed)
		}
	})
}

// A berth that begins has seen nothing of the store, however long its connection stands: holders whose leases were
// lost with a flush just before live.
func TestBerthThatBeginsAfterAFlushTakesNobodyForDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		s := settings{at: newCell(memory(t)), shared: true, keys: givenKeys(t)}
		a := startBerths(t, 1, s, up)[0]
		time.Sleep(2*testLease + testLease/6)
		a.line.refuse(func(op, key string) bool { return key == a.ledger.Lists.LeaseOf(a.Holder()) }) // it is late with its lease
		s.at.Store(memory(t))
		a.hand(t, rule(func(r *Rule) { r.OnOrphan = task.OrphanRerun }), "call hang")
		startBerths(t, 1, s, up)
		time.Sleep(testLease * 5 / 6)
		a.line.refuse(nil)
		time.Sleep(graceful)
		synctest.Wait()
		if n := up.times("call", 0); n != 1 {
			t.Errorf("ran %d times", n)
		}
	})
}
