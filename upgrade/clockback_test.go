package upgrade

import (
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/task"
)

// silent is when the tasks of a dead holder have been seen to whose lease stands: it is ended a beat after its life, and that is seen
// with a later beat.
const silent = graceful + 2*testLease/3

// A holder is dead that renews its lease no more, though the store's clock, which went back, has it stand for long.
func TestADeadHolderIsFoundThoughTheStoresClockWentBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 3, settings{}, up)
		for _, b := range berths {
			b.line.outlast(time.Hour)
		}
		time.Sleep(2 * testLease)
		lost := berths[0].hand(t, rule(nil), "lost hang")
		again := berths[0].hand(t, rule(func(r *Rule) { r.OnOrphan = task.OrphanRerun }), "again result/2s")
		kept := berths[1].hand(t, rule(nil), "kept hang")
		synctest.Wait()
		berths[0].kill()
		time.Sleep(testLease - testLease/3)
		berths[2].mustState(t, lost, Dispatched)
		time.Sleep(silent - testLease + testLease/3 + 3*time.Second)
		berths[1].mustState(t, lost, Failed)
		berths[2].mustState(t, again, Completed)
		time.Sleep(time.Minute)
		berths[2].mustState(t, kept, Dispatched)
		if up.times("again", 0) != 2 || up.times("kept", 0) != 1 {
			t.Errorf("ran %v", up.all())
		}
	})
}

// Berths with leases of another life are not taken for dead by it, nor those that could not renew theirs.
func TestNobodyWhoLivesIsTakenForDeadByItsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		s := settings{at: newCell(memory(t)), keys: givenKeys(t), shared: true}
		slow := s
		slow.lease = 20 * testLease
		berths := append(startBerths(t, 2, s, up), startBerths(t, 1, slow, up)...)
		for _, b := range berths {
			b.line.outlast(time.Hour)
		}
		time.Sleep(2 * slow.lease)
		long := rule(func(r *Rule) { r.Timeout = time.Hour })
		ids := []string{berths[0].hand(t, long, "a hang"), berths[2].hand(t, long, "b hang")}
		for range 3 {
			time.Sleep(time.Minute)
			for _, b := range berths { // no lease is renewed, and all is read
				b.line.refuse(func(op, _ string) bool { return op == "swap" || op == "make" })
			}
			time.Sleep(2 * slow.lease)
			for _, b := range berths {
				b.line.refuse(nil)
			}
		}
		time.Sleep(time.Minute)
		for _, id := range ids {
			berths[1].mustState(t, id, Dispatched)
		}
	})
}
