package ledger

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/upgrade/quota"
	"berth/upgrade/task"
)

func newLedgerInMemory(t *testing.T) *Ledger {
	t.Helper()
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return New(store, "me", nil, time.Minute, quota.Bounds{})
}

// Holders are asked for what has not changed within a beat: most calls are over by the next. A clock of the store's that went back does
// not hold that up.
func TestHoldersAreAskedForWhatHasNotChangedOfLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, now := newLedgerInMemory(t), time.Now()
		l.Overlooked.Told(t.Context(), []string{"one"})
		for id, one := range map[string]*task.Task{
			"long":     {Holder: "one", Updated: now.Add(-time.Minute)},
			"ahead":    {Holder: "one", Updated: now.Add(time.Hour)},
			"short":    {Holder: "one", Updated: now.Add(-l.Epoch.Beat() + time.Second)},
			"ended":    {Updated: now.Add(-time.Minute), State: task.Completed},
			"anothers": {Holder: "another", Updated: now.Add(-time.Minute)}, // it is not listed
		} {
			one.ID = id
			l.Overlooked.Meet(one)
		}
		if got, want := l.Strays.Take(), (map[string]string{"long": "one", "ahead": "one"}); !maps.Equal(got, want) {
			t.Errorf("got %v", got)
		}
		if again := l.Strays.Take(); len(again) != 0 {
			t.Errorf("again %v", again)
		}
	})
}

// A principal who has as many live tasks as he may has their holders be asked: they may be live by a record alone that has fallen back.
func TestHoldersAreAskedForWhatKeepsAPrincipalFromMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, ctx := newLedgerInMemory(t), context.Background()
		l.Overlooked.Told(ctx, []string{"one"})
		live := &task.Task{ID: "a", Pool: "p", Principal: "alice", Holder: "one", State: task.Dispatched, Created: time.Now(), Updated: time.Now(), Terms: task.Terms{TTL: time.Hour}}
		if _, err := l.Records.Create(ctx, live, time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := l.CountLive(ctx, live, 1); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		next := *live
		next.ID = "b"
		if err := l.CountLive(ctx, &next, 1); !errors.Is(err, ErrTooMany) {
			t.Errorf("got %v", err)
		}
		if got := l.Strays.Take(); got["a"] != "one" {
			t.Errorf("asked for %v", got)
		}
	})
}

func TestWhatHoldersAreAskedForIsReadAsItWasSaid(t *testing.T) {
	if id, ok := StrayTo("one", StrayTopic("one", "a")); id != "a" || !ok {
		t.Errorf("got %q, %v", id, ok)
	}
	if _, ok := StrayTo("on", StrayTopic("one", "a")); ok {
		t.Error("it is another's")
	}
	list, name := Lists{}.SlotsOf("queue", "http://u"), PlacesOf("a", "one")+"b"
	if l, n, ok := PlaceOf(PlaceTopic(list, name)); l != list || n != name || !ok {
		t.Errorf("got %q, %q, %v", l, n, ok)
	}
	if _, _, ok := PlaceOf(QueueTopic("queue")); ok {
		t.Error("it is no place")
	}
}
