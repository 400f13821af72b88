package upgrade

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
)

// A store may be flushed between the entries of a task that is being made and its record: then the record is all
// that tells of it. If its berth dies before it has listed the task again, the task ends all the same once
// somebody has asked for it.
func TestTaskThatIsInNoListEndsAfterItsHolderDied(t *testing.T) {
	for name, alsoHolder := range map[string]bool{"the holder is listed": false, "nor is the holder": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				berths := startBerths(t, 2, settings{}, newTool())
				a, b := berths[0], berths[1]
				time.Sleep(time.Second + testLease/6)
				id := a.hand(t, rule(nil), "call hang")
				synctest.Wait()
				a.kill()
				delist(t, b, b.ledger.Lists.TasksOf(a.Holder()), id)
				if alsoHolder {
					delist(t, b, b.ledger.Lists.Holders(), a.Holder())
				}
				for range 3 { // its client polls
					time.Sleep(graceful)
					b.see(t, id)
				}
				synctest.Wait()
				if f := b.see(t, id).failure(t); f.Data.Reason != mcp.ReasonHolderLost {
					t.Errorf("got %+v", f)
				}
			})
		})
	}
}

func delist(t *testing.T, b *berth, list, member string) {
	t.Helper()
	if err := b.line.at.Load().RemoveMember(context.Background(), list, member); err != nil {
		t.Fatal(err)
	}
}
