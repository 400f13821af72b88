package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/routing"
	"berth/upgrade/task"
)

func newTasksOn(t *testing.T) *Tasks {
	t.Helper()
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return New(Options{Store: store, Keys: seal.NewStoredKeyring(store)})
}

func namedTask(id string) Task {
	return Task{ID: id, Once: task.Once{Name: "name", Question: "question"}, Created: time.Now(), Terms: task.Terms{TTL: time.Hour}}
}

// A process that stood still after it had claimed a key finds that another one claimed it
// meanwhile: one of the two goes on, whichever comes to it first.
func TestClaimThatRanOutHasOneWinner(t *testing.T) {
	for _, first := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			tasks, ctx := newTasksOn(t), t.Context()
			claimants := []Task{namedTask("a"), namedTask("b")}
			if err := tasks.ledger.once.claim(ctx, &claimants[0]); err != nil {
				t.Fatal(err)
			}
			if err := tasks.ledger.once.claim(ctx, &claimants[0]); err != nil {
				t.Errorf("claimed once more, since the reply was lost: %v", err)
			}
			if err := tasks.ledger.once.claim(ctx, &claimants[1]); !errors.Is(err, errKeyTaken) {
				t.Fatalf("a second claim: %v", err)
			}
			time.Sleep(claimTime)
			if err := tasks.ledger.once.claim(ctx, &claimants[1]); err != nil {
				t.Fatal(err)
			}
			winner, loser := claimants[first], claimants[1-first]
			if err := tasks.ledger.once.settle(ctx, &winner, time.Hour); err != nil {
				t.Fatal(err)
			}
			if err := tasks.ledger.once.settle(ctx, &winner, time.Hour); err != nil {
				t.Errorf("settled once more: %v", err)
			}
			if err := tasks.ledger.once.settle(ctx, &loser, time.Hour); !errors.Is(err, errKeyTaken) {
				t.Errorf("the other one: %v", err)
			}
			if err := tasks.ledger.once.free(ctx, &loser); err != nil {
				t.Fatal(err)
			}
			if used, err := tasks.ledger.once.used(ctx, winner.Once); err != nil || used.Task != winner.ID {
				t.Errorf("%+v stands, %v", used, err)
			}
		})
	}
}

// Of a creation whose last reply was lost nobody knows whether it succeeded: what another
// request may have been told of is not taken back.
func TestCreationOfUnknownEndIsNotForgottenOnceItsKeyStands(t *testing.T) {
	for _, settled := range []bool{false, true} {
		tasks, ctx := newTasksOn(t), context.Background()
		task := namedTask("a")
		task.Holder, task.State = tasks.ledger.holder, Accepted
		if err := tasks.ledger.once.claim(ctx, &task); err != nil {
			t.Fatal(err)
		}
		if _, err := tasks.ledger.records.create(ctx, task, time.Hour); err != nil {
			t.Fatal(err)
		}
		if settled {
			if err := tasks.ledger.once.settle(ctx, &task, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		tasks.runner.pools[""] = &Pool{Routing: emptyPool()}
		if err := tasks.runner.resolve(ctx, task, &Call{Body: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		if h := tasks.runner.calls.get(task.ID); h != nil {
			<-h.done
		}
		e, err := tasks.ledger.records.get(ctx, task.ID)
		if stands := err == nil; stands != settled || stands && e.State != Failed {
			t.Errorf("settled %v: the record is %+v, %v", settled, e, err)
		}
		if _, err := tasks.ledger.once.used(ctx, task.Once); (err == nil) != settled {
			t.Errorf("settled %v: the key: %v", settled, err)
		}
	}
}

// A key is put back with its task.
func TestKeyIsPutBack(t *testing.T) {
	tasks, ctx := newTasksOn(t), t.Context()
	task := namedTask("a")
	h := tasks.runner.hold(entry{Task: task}, &Call{Body: []byte(`{}`)})
	defer h.end(nil)
	if err := h.putBack(ctx); err != nil {
		t.Fatal(err)
	}
	record, err := tasks.ledger.store.Get(ctx, keyOf(task.Once))
	var used usedKey
	if err == nil {
		err = json.Unmarshal(record.Value, &used)
	}
	if err != nil || used != (usedKey{"a", "question", true}) {
		t.Errorf("%+v stands, %v", used, err)
	}
}

func emptyPool() *routing.Pool { return routing.NewPool(routing.PoolOptions{Name: ""}) }
