package upgrade

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// takes fails the test unless the berth of d has the right, or has not.
func takes(t *testing.T, d *Delivery, want bool) {
	t.Helper()
	if mine, err := d.Take(context.Background(), true); mine != want || err != nil {
		t.Fatalf("got %v, %v, want %v", mine, err, want)
	}
}

// One berth of several tells, until it gives that back; what it gives back late is not what
// another one has taken since.
func TestOneBerthDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		one, other := berths[0].Sessions.Deliveries.SessionDelivery("s", Creator{}), berths[1].Sessions.Deliveries.SessionDelivery("s", Creator{})
		takes(t, one, true)
		takes(t, one, true)
		takes(t, other, false)
		takes(t, berths[0].Sessions.Deliveries.SessionDelivery("s", Creator{}), false) // another stream's, though of this berth
		told, stop := berths[1].Sessions.WatchSession("s")
		defer stop()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		one.GiveBack(ended)
		<-told
		takes(t, other, true)
		one.GiveBack(t.Context())
		takes(t, one, false)
		takes(t, berths[1].Sessions.Deliveries.SessionDelivery("another", Creator{}), true)
		takes(t, berths[0].Sessions.Deliveries.SessionDelivery("s", Creator{Credentials: "c"}), true)
		if members := berths[0].members(t, berths[0].ledger.Lists.DeliversIn("s", "")); len(members) != 1 {
			t.Errorf("listed are %q", members)
		}
	})
}

// What a berth that died has taken goes to another one once its lease is gone; not while the
// store was away, when nobody could renew one.
func TestDeliveryOutlivesItsBerth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		time.Sleep(2 * testLease) // the store has served for a while
		one, other := berths[0].Sessions.Deliveries.SessionDelivery("s", Creator{}), berths[1].Sessions.Deliveries.SessionDelivery("s", Creator{})
		takes(t, one, true)
		berths[0].kill()
		takes(t, other, false)
		time.Sleep(testLease + time.Second)
		takes(t, other, true)

		third := newBerth(settings{at: berths[1].line.at, shared: true, keys: berths[1].ledger.Records.Keys}, berths[1].tool)
		third.run()
		t.Cleanup(third.kill)
		berths[1].line.freeze()
		third.line.cut()
		time.Sleep(2 * testLease)
		third.line.mend()
		takes(t, third.Sessions.Deliveries.SessionDelivery("s", Creator{}), false)
		berths[1].line.thaw()
	})
}

// While the store cannot say, nothing changes: who tells goes on, and who does not waits.
// What is given back meanwhile is free when it is back.
func TestDeliveryInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		one, other := berths[0].Sessions.Deliveries.SessionDelivery("s", Creator{}), berths[1].Sessions.Deliveries.SessionDelivery("s", Creator{})
		takes(t, one, true)
		berths[0].line.cut()
		if mine, err := one.Take(t.Context(), true); !mine || err == nil {
			t.Errorf("got %v, %v, want true and an error", mine, err)
		}
		one.GiveBack(t.Context())
		takes(t, other, false)
		berths[0].line.mend()
		time.Sleep(testLease)
		takes(t, other, true)
		berths[0].line.cut()
		if mine, err := one.Take(t.Context(), false); mine || err == nil {
			t.Errorf("got %v, %v, want false and an error", mine, err)
		}
		berths[0].line.mend()
	})
}

// What was asked a moment ago is not asked again, and where there is one berth nothing is.
func TestDeliveryCostsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		d := berths[0].Sessions.Deliveries.SessionDelivery("s", Creator{})
		takes(t, d, true)
		list := berths[0].ledger.Lists.DeliversIn("s", "")
		if err := berths[0].line.at.Load().RemoveMember(t.Context(), list, berths[0].members(t, list)[0]); err != nil {
			t.Fatal(err)
		}
		mine, err := d.Take(t.Context(), false)
		if listed := berths[0].members(t, list); !mine || err != nil || len(listed) != 0 {
			t.Errorf("got %v, %v, and listed are %q: the store was asked", mine, err, listed)
		}
		time.Sleep(testLease / 3)
		mine, err = d.Take(t.Context(), false)
		if listed := berths[0].members(t, list); !mine || err != nil || len(listed) != 1 {
			t.Errorf("got %v, %v, and listed are %q: the store was not asked", mine, err, listed)
		}

		alone := startBerths(t, 1, settings{at: newCell(memory(t))}, up)[0]
		d = alone.Sessions.Deliveries.SessionDelivery("s", Creator{})
		takes(t, d, true)
		if listed := alone.members(t, list); len(listed) != 0 {
			t.Errorf("listed are %q", listed)
		}
	})
}
