package upgrade

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

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
		if b.Reader.lending.total() == 0 {
			t.Error("given back while one client reads")
		}
		seen[0].Return()
		if lent := b.Reader.lending.total(); lent != 0 || len(b.Reader.lending.of) != 0 || len(b.Reader.lending.by) != 0 {
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
		if lent := b.Reader.lending.total(); lent != 0 {
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
		if !b.Use.KeepsMuch("one") || b.Reader.lending.aboveEven(task.Digest("two")) {
			t.Error("nobody would be shed for it, or somebody else")
		}
		returnAll(views(t, b, ids[4], 1))
		returnAll(seen[:3])
		returnAll(append(views(t, b, ids[3], 1), seen[3:]...))
		if lent := b.Reader.lending.total(); lent != 0 {
			t.Errorf("%d bytes are lent to nobody", lent)
		}
	})
}

// Each bound refuses by its own name; whoever has nothing yet gets one result of any size,
// while others have not taken half as much again as there is.
func TestEachBoundOfWhatIsLentRefuses(t *testing.T) {
	type try struct {
		caller string
		bytes  int64
		want   string
	}
	for name, c := range map[string]struct {
		bounds Bounds
		tries  []try
	}{
		"one caller": {Bounds{Lent: 1000, LentPerCaller: 100}, []try{{"one", 5000, ""}, {"one", 1, "caller_lent"}, {"two", 60, "lent"}}},
		"all":        {Bounds{Lent: 100}, []try{{"one", 50, ""}, {"one", 40, ""}, {"one", 40, "lent"}, {"two", 40, ""}, {"two", 20, "lent"}, {"three", 30, "lent"}, {"three", 20, ""}}},
		"none":       {Bounds{}, []try{{"one", 5000, ""}, {"one", 5000, ""}}},
	} {
		l := newLending(c.bounds)
		for i, try := range c.tries {
			got := ""
			_, err := l.borrow(t.Context(), fmt.Sprint(i), try.caller, try.bytes, func() ([]byte, error) { return make([]byte, try.bytes), nil })
			if refusal, ok := errors.AsType[*Refusal](err); ok {
				got = refusal.Reason
			}
			if got != try.want {
				t.Errorf("%s, %d: %s with %d bytes: refused by %q, want %q", name, i, try.caller, try.bytes, got, try.want)
			}
		}
	}
}

// Who waits for what another one reads is not told of that one's failure, and reads himself;
// who does not wait for it takes no place.
func TestReadThatFailsIsItsReadersAffair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLending(Bounds{Lent: 100})
		slow := func(outcome []byte, err error) func() ([]byte, error) {
			return func() ([]byte, error) {
				time.Sleep(time.Second)
				return outcome, err
			}
		}
		broken := errors.New("broken")
		go func() {
			if _, err := l.borrow(t.Context(), "key", "one", 50, slow(nil, broken)); !errors.Is(err, broken) {
				t.Errorf("the first: got %v", err)
			}
		}()
		synctest.Wait()
		hasty, hurry := context.WithTimeout(t.Context(), time.Second/2)
		defer hurry()
		if _, err := l.borrow(hasty, "key", "one", 50, slow(nil, nil)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who has left: got %v", err)
		}
		o, err := l.borrow(t.Context(), "key", "one", 50, slow([]byte("whole"), nil))
		if err != nil || string(o.text) != "whole" || l.total() != 5 {
			t.Errorf("the second: got %v, %d bytes are lent", err, l.total())
		}
		l.giveBack(o)
		if l.total() != 0 || len(l.of) != 0 {
			t.Errorf("%d bytes are lent to nobody", l.total())
		}
	})
}
