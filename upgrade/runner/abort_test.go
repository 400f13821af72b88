package runner

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/quota"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

func memory(t *testing.T) *storage.Store {
	t.Helper()
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func newRunnerOn(t *testing.T, store ledger.Store) *Runner {
	t.Helper()
	keys, err := seal.NewKeyring(make([]byte, seal.MinSecret))
	if err != nil {
		t.Fatal(err)
	}
	return New(ledger.New(store, "", keys, time.Minute, quota.Bounds{}), nil, 0, slog.New(slog.DiscardHandler), nil)
}

func namedTask(id string) *task.Task {
	return &task.Task{ID: id, Once: task.Once{Name: "name", Question: "question"}, Created: time.Now(), Terms: task.Terms{TTL: time.Hour}}
}

// Of a creation whose last reply was lost nobody knows whether it succeeded: what another
// request may have been told of is not taken back.
func TestCreationOfUnknownEndIsNotForgottenOnceItsKeyStands(t *testing.T) {
	for _, settled := range []bool{false, true} {
		r, ctx := newRunnerOn(t, memory(t)), context.Background()
		named := namedTask("a")
		named.Holder, named.State = r.ledger.Holder, task.Accepted
		if err := r.ledger.Once.Claim(ctx, named); err != nil {
			t.Fatal(err)
		}
		if _, err := r.ledger.Records.Create(ctx, named, time.Hour); err != nil {
			t.Fatal(err)
		}
		if settled {
			if err := r.ledger.Once.Settle(ctx, named, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		r.Pools.Set([]transport.Destination{{Routing: emptyPool()}})
		if err := r.resolve(ctx, named, &task.Call{Body: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		release, err := r.Calls.Claim(ctx, named.ID) // once its call is not held any more
		if err != nil {
			t.Fatal(err)
		}
		release()
		e, err := r.ledger.Records.Get(ctx, named.ID)
		if stands := err == nil; stands != settled || stands && e.State != task.Failed {
			t.Errorf("settled %v: the record is %+v, %v", settled, e, err)
		}
		time.Sleep(10 * time.Millisecond) // it is given back by a life as short as can be
		if _, err := r.ledger.Once.Used(ctx, named.Once); (err == nil) != settled {
			t.Errorf("settled %v: the key: %v", settled, err)
		}
	}
}

// What an operator has made again, and the store did not take, counts for nobody.
func TestATaskThatWasNotStoredCountsNoMore(t *testing.T) {
	r, ctx := newRunnerOn(t, memory(t)), t.Context()
	made := &task.Task{ID: "a", Handed: true, Holder: r.ledger.Holder, State: task.Accepted, Created: time.Now(), Terms: task.Terms{TTL: time.Hour}}
	if err := r.ledger.Quota.Admit(made.ID, "caller", 1<<10, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	r.Abort(ctx, made, &task.Call{Body: []byte(`{}`)}, storage.ErrUnavailable)
	if !r.ledger.Quota.Has(made.ID) {
		t.Error("it counts no more, while nobody knows whether it is stored")
	}
	if err := r.ledger.Pending.Settle(ctx, made.ID); err != nil || r.ledger.Quota.Has(made.ID) {
		t.Errorf("it counts still: %v", err)
	}
}

// A key is put back with its task.
func TestKeyIsPutBack(t *testing.T) {
	r, ctx := newRunnerOn(t, memory(t)), t.Context()
	named := namedTask("a")
	h := r.Hold(ledger.Entry{Task: named}, &task.Call{Body: []byte(`{}`)})
	defer h.end(nil)
	if err := h.putBack(ctx); err != nil {
		t.Fatal(err)
	}
	used, err := r.ledger.Once.Used(ctx, named.Once)
	if err != nil || used.Task != "a" || used.Question != "question" || !used.Recorded {
		t.Errorf("%+v stands, %v", used, err)
	}
}

func emptyPool() *routing.Pool { return routing.NewPool(routing.PoolOptions{Name: ""}) }

// noting is a store that notes which keys it is given.
type noting struct {
	*storage.Store
	given []string
}

func (n *noting) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	n.given = append(n.given, key)
	return n.Store.Put(ctx, key, value, ttl)
}

func (n *noting) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (storage.Record, bool, error) {
	n.given = append(n.given, key)
	return n.Store.PutIfAbsent(ctx, key, value, ttl)
}

// ofCall reports whether a part of a task's call was given to the store.
func (n *noting) ofCall(id string) bool {
	return slices.ContainsFunc(n.given, func(key string) bool { return strings.HasPrefix(key, ledger.CallKey(id)) })
}

// What a flush takes is put back while the call runs; of one that has ended only the task.
func TestPutBackLeavesTheCallOfAnEndedTask(t *testing.T) {
	store, ctx := &noting{Store: memory(t)}, t.Context()
	r, named := newRunnerOn(t, store), namedTask("a")
	named.Holder, named.State = r.ledger.Holder, task.Accepted
	h := r.Hold(ledger.Entry{Task: named}, &task.Call{Body: []byte(`{"of":"` + strings.Repeat("a", 100<<10) + `"}`)})
	defer h.end(nil)
	if err := h.look(ctx); err != nil || !store.ofCall("a") {
		t.Errorf("the call of a live task is not put back: %v", err)
	}
	if err := store.Delete(ctx, ledger.TaskKey("a")); err != nil {
		t.Fatal(err)
	}
	store.given = nil
	h.entry.State, h.entry.Holder = task.Completed, "" // as between the last step and its letting go
	if err := h.look(ctx); err != nil {
		t.Fatal(err)
	}
	if e, err := r.ledger.Records.Get(ctx, "a"); err != nil || e.State != task.Completed {
		t.Errorf("the task is %s, %v", e.State, err)
	}
	if store.ofCall("a") {
		t.Errorf("the task has ended, and of its call there is again %v", store.given)
	}
}
