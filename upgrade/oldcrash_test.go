package upgrade

import (
	"fmt"
	"testing"
	"time"
)

// oldCrashPoints are more operations than a berth needs for a call with two questions.
const oldCrashPoints = 60

// TestEveryCrashPointOfACallInASession has the holder of a call die before and after each
// operation, between the events of the call's stream, too, and another berth see to what is
// left. Whatever is asked then is answered there. The tool runs once; from its first event
// on nothing is lost.
func TestEveryCrashPointOfACallInASession(t *testing.T) {
	t.Parallel()
	everyCrashPoint(t, oldCrashPoints, oldDieAt)
}

func oldDieAt(t *testing.T, s settings, point int, after bool) {
	t.Helper()
	w := newOldWorld(s, 0)
	defer w.old.stop()
	w.begin()
	b := w.berths[0]
	died := make(chan struct{})
	b.line.died = func() { close(died) }
	time.Sleep(testLease / 2)
	b.line.burn(point, after)
	w.createOld(b, sayAskSayAskSay)
	for range 6 {
		time.Sleep(500 * time.Millisecond)
		w.followAt(b)
	}
	select {
	case <-died:
	case <-time.After(30 * time.Second):
		t.Fatalf("point %d was not reached in 30 s", point)
	}
	b.clear()
	adopter := newBerth(w.settings, w.tool)
	if err := adopter.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	adopter.run()
	t.Cleanup(adopter.kill)
	w.berths = append(w.berths, adopter)
	for range 10 {
		time.Sleep(graceful)
		w.followAt(adopter)
	}
	for _, wrong := range append(w.wrong.all(), w.check()...) {
		t.Errorf("point %d, after %v: %s", point, after, wrong)
	}
	for _, k := range w.made() {
		if v := adopter.see(t, k.id); v.State == Failed && k.safe {
			t.Errorf("point %d, after %v: lost with %s", point, after, v.Outcome)
		}
	}
	if left := adopter.members(t, adopter.ledger.Lists.TasksOf(b.ledger.Holder)); len(left) > 0 {
		t.Errorf("%s", fmt.Sprint("left over: ", left))
	}
}
