package lending

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/task"
)

// Each bound refuses by its own name; whoever has nothing yet gets one result of any size,
// while others have not taken half as much again as there is.
func TestEachBoundOfWhatIsLentRefuses(t *testing.T) {
	type try struct {
		caller string
		bytes  int64
		want   string
	}
	for name, c := range map[string]struct {
		most, each int64
		tries      []try
	}{
		"one caller": {1000, 100, []try{{"one", 5000, ""}, {"one", 1, "caller_lent"}, {"two", 60, "lent"}}},
		"all":        {100, 0, []try{{"one", 50, ""}, {"one", 40, ""}, {"one", 40, "lent"}, {"two", 40, ""}, {"two", 20, "lent"}, {"three", 30, "lent"}, {"three", 20, ""}}},
		"none":       {0, 0, []try{{"one", 5000, ""}, {"one", 5000, ""}}},
	} {
		l := New(c.most, c.each)
		for i, try := range c.tries {
			got := ""
			_, err := l.Borrow(t.Context(), fmt.Sprint(i), try.caller, try.bytes, func() ([]byte, error) { return make([]byte, try.bytes), nil })
			if refusal, ok := errors.AsType[*task.Refusal](err); ok {
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
		l := New(100, 0)
		slow := func(outcome []byte, err error) func() ([]byte, error) {
			return func() ([]byte, error) {
				time.Sleep(time.Second)
				return outcome, err
			}
		}
		broken := errors.New("broken")
		go func() {
			if _, err := l.Borrow(t.Context(), "key", "one", 50, slow(nil, broken)); !errors.Is(err, broken) {
				t.Errorf("the first: got %v", err)
			}
		}()
		synctest.Wait()
		hasty, hurry := context.WithTimeout(t.Context(), time.Second/2)
		defer hurry()
		if _, err := l.Borrow(hasty, "key", "one", 50, slow(nil, nil)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who has left: got %v", err)
		}
		o, err := l.Borrow(t.Context(), "key", "one", 50, slow([]byte("whole"), nil))
		if err != nil || string(o.Text()) != "whole" || l.Total() != 5 {
			t.Errorf("the second: got %v, %d bytes are lent", err, l.Total())
		}
		o.Return()
		if l.Total() != 0 || len(l.of) != 0 || len(l.by) != 0 {
			t.Errorf("%d bytes are lent to nobody", l.Total())
		}
	})
}
