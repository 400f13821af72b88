package upgrade

import (
	"testing"
	"testing/synctest"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// Operators' lists say of a held call that it was sent, though where the store dies with the process its holder alone knows.
func TestAListSaysWhatTheHolderKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, "memory:", storage.Options{})
		defer store.Close()
		b := startBerths(t, 1, settings{at: newCell(store)}, newTool())[0]
		defer b.kill()
		id := b.hand(t, rule(func(*Rule) {}), "call hang")
		synctest.Wait()
		if e, err := b.ledger.Records.Get(t.Context(), id); err != nil || e.State == task.Dispatched {
			t.Fatalf("stored is %v, %v, which shows nothing", e.Task, err)
		}
		some, _, err := b.Overview.ReadSome(t.Context(), []string{id})
		if err != nil || len(some) != 1 || some[0].State != task.Dispatched {
			t.Errorf("got %v, %v", some, err)
		}
	})
}
