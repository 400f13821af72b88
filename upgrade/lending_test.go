package upgrade

import (
	"errors"
	"testing"
	"testing/synctest"

	"berth/upgrade/task"
)

// views returns a task as several clients see it who have not read it yet.
func views(t *testing.T, b *berth, id string, n int) (seen []View) {
	t.Helper()
	for range n {
		v, err := b.Reader.Get(t.Context(), id, Asker{Pool: poolName})
		if err != nil || v.State != Completed {
			t.Fatalf("got %s, %v", v.State, err)
		}
		seen = append(seen, v)
	}
	return seen
}

func returnAll(seen []View) {
	for _, v := range seen {
		v.Return()
	}
}

// However many clients are being given one result, it is in memory once, and no longer than
// the last of them needs.
func TestResultIsInMemoryOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{Lent: 200 * kib, LentPerCaller: 100 * kib})
		id, refused := b.tries(t, from("one", rule(nil), "call big:30"))
		if refused != "" {
			t.Fatal(refused)
		}
		seen := views(t, b, id, 20)
		for i, v := range seen {
			if len(v.Outcome) < 30*kib || &v.Outcome[0] != &seen[0].Outcome[0] {
				t.Fatalf("view %d has %d bytes of its own", i, len(v.Outcome))
			}
		}
		if lent := b.Use.InMemory() - b.ledger.Quota.Total().Bytes; lent != int64(len(seen[0].Outcome)) {
			t.Errorf("%d bytes are lent, want %d", lent, len(seen[0].Outcome))
		}
		returnAll(seen[1:])
		if b.Reader.lending.Total() == 0 {
			t.Error("given back while one client reads")
		}
		seen[0].Return()
		if lent := b.Reader.lending.Total(); lent != 0 {
			t.Errorf("%d bytes are lent to nobody", lent)
		}
	})
}

// A small result is every reader's own, and takes nothing of the room.
func TestSmallResultIsNotLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{Lent: 1, LentPerCaller: 1})
		id, _ := b.tries(t, from("one", rule(nil), "call result"))
		views(t, b, id, 20)
		if lent := b.Reader.lending.Total(); lent != 0 {
			t.Errorf("%d bytes are lent", lent)
		}
	})
}

// Who is being given as much as may be of his results is refused more; others go on, and so
// does he as soon as he has read one.
func TestWhoDoesNotReadIsGivenNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{Lent: 200 * kib, LentPerCaller: 100 * kib})
		var ids []string
		for _, caller := range []string{"one", "one", "one", "one", "two"} {
			id, _ := b.tries(t, from(caller, rule(nil), "call big:30"))
			ids = append(ids, id)
		}
		var seen []View
		for _, id := range ids[:3] {
			seen = append(seen, views(t, b, id, 3)...)
		}
		_, err := b.Reader.Get(t.Context(), ids[3], Asker{Pool: poolName})
		if refusal, ok := errors.AsType[*Refusal](err); !ok || refusal.Reason != "caller_lent" || !errors.Is(err, ErrTooMuchLent) {
			t.Errorf("a fourth result: got %v", err)
		}
		if !b.Use.KeepsMuch("one") || b.Reader.lending.AboveEven(task.Digest("two")) {
			t.Error("nobody would be shed for it, or somebody else")
		}
		returnAll(views(t, b, ids[4], 1))
		returnAll(seen[:3])
		returnAll(append(views(t, b, ids[3], 1), seen[3:]...))
		if lent := b.Reader.lending.Total(); lent != 0 {
			t.Errorf("%d bytes are lent to nobody", lent)
		}
	})
}
