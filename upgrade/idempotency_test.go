package upgrade

import (
	"context"
	"testing"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/routing"
	"berth/upgrade/ledger"
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

// Of a creation whose last reply was lost nobody knows whether it succeeded: what another
// request may have been told of is not taken back.
func TestCreationOfUnknownEndIsNotForgottenOnceItsKeyStands(t *testing.T) {
	for _, settled := range []bool{false, true} {
		tasks, ctx := newTasksOn(t), context.Background()
		task := namedTask("a")
		task.Holder, task.State = tasks.ledger.Holder, Accepted
		if err := tasks.ledger.Once.Claim(ctx, &task); err != nil {
			t.Fatal(err)
		}
		if _, err := tasks.ledger.Records.Create(ctx, task, time.Hour); err != nil {
			t.Fatal(err)
		}
		if settled {
			if err := tasks.ledger.Once.Settle(ctx, &task, time.Hour); err != nil {
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
		e, err := tasks.ledger.Records.Get(ctx, task.ID)
		if stands := err == nil; stands != settled || stands && e.State != Failed {
			t.Errorf("settled %v: the record is %+v, %v", settled, e, err)
		}
		if _, err := tasks.ledger.Once.Used(ctx, task.Once); (err == nil) != settled {
			t.Errorf("settled %v: the key: %v", settled, err)
		}
	}
}

// A key is put back with its task.
func TestKeyIsPutBack(t *testing.T) {
	tasks, ctx := newTasksOn(t), t.Context()
	task := namedTask("a")
	h := tasks.runner.hold(ledger.Entry{Task: task}, &Call{Body: []byte(`{}`)})
	defer h.end(nil)
	if err := h.putBack(ctx); err != nil {
		t.Fatal(err)
	}
	used, err := tasks.ledger.Once.Used(ctx, task.Once)
	if err != nil || used.Task != "a" || used.Question != "question" || !used.Recorded {
		t.Errorf("%+v stands, %v", used, err)
	}
}

func emptyPool() *routing.Pool { return routing.NewPool(routing.PoolOptions{Name: ""}) }
