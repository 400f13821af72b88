package upgrade

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/ledger"
	"berth/upgrade/runner"
)

// A berth that ends a session may die before it refuses what is asked there: then the
// holder does, so that the tool does not wait.
func TestOpenAsksOfAnEndedSessionAreRefused(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		old.call(t, 0).ask("0")
		soon()
		if _, held, err := berths[1].Sessions.End(t.Context(), clientsKey(), behindKey(), nil); !held || err != nil {
			t.Fatalf("ended: %v, %v", held, err)
		}
		time.Sleep(testLease)
		synctest.Wait()
		if told := old.told(); len(told) != 1 || !strings.Contains(told[0], `"id":0,"error"`) {
			t.Errorf("told %v", told)
		}
		berths[1].statusOf(t, id, "working")
	})
}

// A call that waits for an answer says nothing by which its holder could learn that the task
// was cancelled by a berth that died with that.
func TestCancelByADyingBerthReachesACallThatAsks(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		old.call(t, 0).ask("0")
		soon()
		berths[1].line.burn(2, true) // it reads the record, and stores the step
		_, _ = berths[1].Steps.Cancel(t.Context(), id, somebody)
		time.Sleep(2 * testLease)
		synctest.Wait()
		if told := old.told(); len(told) == 0 || !strings.Contains(told[0], `"method":"notifications/cancelled"`) || berths[0].Held() != 0 {
			t.Errorf("told %v, held %d", told, berths[0].Held())
		}
	})
}

// A holder that was taken for dead, and does not know that yet, settles what its adopter asks.
func TestFrozenHolderSettlesForItsHeir(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		berths[0].line.freeze()
		time.Sleep(graceful)
		old.call(t, 0).ask("0")
		time.Sleep(runner.QuietMost)
		synctest.Wait()
		berths[1].statusOf(t, id, "input_required")
		berths[0].line.thaw()
		berths[0].Sessions.Settle(t.Context(), id, []byte("0"))
		berths[1].statusOf(t, id, "working")
		time.Sleep(testLease)
		synctest.Wait()
		if told := old.told(); len(told) != 0 {
			t.Errorf("told %v", told)
		}
	})
}

// A holder that finds by a refused step that it was taken for dead revokes nothing: the call
// is its adopter's.
func TestFrozenHolderThatIsAskedRevokesNothing(t *testing.T) {
	oldWorld(t, nil, func(t *testing.T, berths []*berth, old *oldServer) {
		id := berths[0].handCore(t, rule(nil), 0)
		soon()
		berths[0].line.freeze()
		time.Sleep(graceful)
		berths[0].line.refuse(func(op, key string) bool { return op == "get" && key == ledger.TaskKey(id) }) // only by a step
		old.call(t, 0).say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
		berths[0].line.thaw()
		synctest.Wait()
		time.Sleep(testLease)
		synctest.Wait()
		if told := old.told(); len(told) != 0 || berths[0].Held() != 0 {
			t.Errorf("told %v, holds %d", told, berths[0].Held())
		}
		berths[1].statusOf(t, id, "working")
	})
}
