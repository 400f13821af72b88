package upgrade

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// Where the store dies with the process, a call is in it when somebody but its holder may need it: once its task waits for its
// client, or has failed and may be made again. Operators are told what it bears all the same.
func TestCallIsStoredForWhoeverGoesOn(t *testing.T) {
	for says, stored := range map[string]bool{"call hang": false, "call ask:k result": true, "call error": true, "call result": false} {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := openStore(t, "memory:", storage.Options{})
				defer store.Close()
				b := startBerths(t, 1, settings{at: newCell(store)}, newTool())[0]
				defer b.kill()
				id := b.hand(t, rule(func(r *Rule) { r.OnOrphan = task.OrphanRerun }), says)
				synctest.Wait()
				_, err := storage.GetBlob(t.Context(), store, ledger.CallKey(id))
				if stored != (err == nil) || err != nil && !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("reading the call: got %v, want it stored: %v", err, stored)
				}
				v := b.see(t, id)
				if told, err := b.Overview.Payloads(t.Context(), &v.Task); err != nil || !v.State.Terminal() && !bytes.Contains(told.Arguments, []byte("{")) {
					t.Errorf("of a task that is %s operators are told the arguments %q (%v)", v.State, told.Arguments, err)
				}
			})
		})
	}
}

// Operators are told the arguments that the server was given, though a member that differs in case alone stands behind them.
func TestOperatorsAreToldTheArgumentsThatCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		c := creation(rule(nil), "hang")
		c.Call.Body = append(bytes.TrimSuffix(c.Call.Body, []byte("}}")), `,"Arguments":{"c":3}}}`...)
		h, err := b.Maker.Create(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		h.Start(nil)
		v := b.see(t, handle(h))
		if told, err := b.Overview.Payloads(t.Context(), &v.Task); err != nil || string(told.Arguments) != `{"do":"hang"}` {
			t.Errorf("told %s (%v) of %s", told.Arguments, err, c.Call.Body)
		}
	})
}
