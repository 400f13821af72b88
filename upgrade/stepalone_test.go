package upgrade

import (
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/storage"
	"berth/upgrade/ledger"
)

// A call whose task has ended past its holder is not sent, though where the store dies with the process the dispatch is a step
// of the holder's own.
func TestCallWhoseTaskHasEndedIsNotDispatchedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, "memory:", storage.Options{})
		defer store.Close()
		used := newTool()
		alone := settings{at: newCell(store)}
		b, past, cancelled := startBerths(t, 1, alone, used)[0], startBerths(t, 1, alone, used)[0], false
		defer b.kill()
		defer past.kill()
		b.line.refuse(func(op, key string) bool {
			id := strings.TrimSuffix(strings.TrimPrefix(key, strings.TrimSuffix(ledger.TaskKey(""), "}")), "}")
			if op == "get" && key == ledger.TaskKey(id) && !cancelled {
				cancelled = true
				if _, err := past.Steps.Cancel(t.Context(), id, somebody); err != nil {
					t.Error(err)
				}
			}
			return false
		})
		id := b.hand(t, rule(nil), "call hang")
		synctest.Wait()
		if v := b.see(t, id); !cancelled || !v.State.Terminal() || used.count() > 0 {
			t.Errorf("cancelled: %t; the task is %s, and its call was sent %d times", cancelled, v.State, used.count())
		}
	})
}
