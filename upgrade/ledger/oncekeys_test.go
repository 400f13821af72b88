package ledger

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/storagetest"
	"berth/upgrade/task"
)

// A process that stood still after it had claimed a key finds that another one claimed it
// meanwhile: one of the two goes on, whichever comes to it first.
func TestClaimThatRanOutHasOneWinner(t *testing.T) {
	for _, first := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			store := storagetest.OpenMemory(t)
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

// amid is a store in which something happens behind a look at a key.
type amid struct {
	Store
	happens func()
}

func (a amid) Get(ctx context.Context, key string) (storage.Record, error) {
	record, err := a.Store.Get(ctx, key)
	a.happens()
	return record, err
}

// A key that runs out as it is given back, and is another task's by then, stays that one's.
func TestKeyThatIsAnothersMeanwhileIsNotFreed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		keys, ctx := OnceKeys{store}, t.Context()
		slow, next := task.Task{ID: "a", Once: task.Once{Name: "name", Question: "q"}}, task.Task{ID: "b", Once: task.Once{Name: "name", Question: "q"}}
		if err := keys.Claim(ctx, &slow); err != nil {
			t.Fatal(err)
		}
		once := OnceKeys{amid{store, func() {
			time.Sleep(claimTime)
			if err := errors.Join(keys.Claim(ctx, &next), keys.Settle(ctx, &next, time.Hour)); err != nil {
				t.Error(err)
			}
		}}}
		if err := once.Free(ctx, &slow); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if used, err := keys.Used(ctx, next.Once); err != nil || used.Task != next.ID {
			t.Errorf("%+v stands, %v", used, err)
		}
	})
}
