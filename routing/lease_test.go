package routing_test

import "testing"

// What a lease holds is held on by the one that it was handed over to, and by that alone.
func TestALeaseIsHandedOver(t *testing.T) {
	lease := fill(t, narrow(1, 10), 2)[0]
	u := lease.Upstream
	lease.Stand()
	before := u.InFlight()
	next := lease.HandOver()
	lease.Release()
	if u.InFlight() != before || u.Busy() != before-1 {
		t.Errorf("handed over: %d in flight, %d busy, want %d and %d", u.InFlight(), u.Busy(), before, before-1)
	}
	next.Release()
	next.Release()
	if u.InFlight() != before-1 || u.Busy() != before-1 {
		t.Errorf("in the end: %d in flight, %d busy, want %d of both", u.InFlight(), u.Busy(), before-1)
	}
}
