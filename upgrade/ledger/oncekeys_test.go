package ledger

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// A process that stood still after it had claimed a key finds that another one claimed it
// meanwhile: one of the two goes on, whichever comes to it first.
func TestClaimThatRanOutHasOneWinner(t *testing.T) {
	for _, first := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			store, err := storage.Open("memory:", storage.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			keys, ctx := OnceKeys{store}, t.Context()
			claimants := []task.Task{
				{ID: "a", Once: task.Once{Name: "name", Question: "question"}}, {ID: "b", Once: task.Once{Name: "name", Question: "question"}},
			}
			if err := keys.Claim(ctx, &claimants[0]); err != nil {
				t.Fatal(err)
			}
			if err := keys.Claim(ctx, &claimants[0]); err != nil {
				t.Errorf("claimed once more, since the reply was lost: %v", err)
			}
			if err := keys.Claim(ctx, &claimants[1]); !errors.Is(err, ErrKeyTaken) {
				t.Fatalf("a second claim: %v", err)
			}
			time.Sleep(claimTime)
			if err := keys.Claim(ctx, &claimants[1]); err != nil {
				t.Fatal(err)
			}
			winner, loser := claimants[first], claimants[1-first]
			if err := keys.Settle(ctx, &winner, time.Hour); err != nil {
				t.Fatal(err)
			}
			if err := keys.Settle(ctx, &winner, time.Hour); err != nil {
				t.Errorf("settled once more: %v", err)
			}
			if err := keys.Settle(ctx, &loser, time.Hour); !errors.Is(err, ErrKeyTaken) {
				t.Errorf("the other one: %v", err)
			}
			if err := keys.Free(ctx, &loser); err != nil {
				t.Fatal(err)
			}
			if used, err := keys.Used(ctx, winner.Once); err != nil || used.Task != winner.ID {
				t.Errorf("%+v stands, %v", used, err)
			}
		})
	}
}
