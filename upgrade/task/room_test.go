package task

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Answers wait for room until those before them are stored: one caller has half of it, and
// one alone may be of any size.
func TestLargeAnswersWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		healthy := true
		unsaved := NewUnsaved(100, func() bool { return healthy })
		room := func(caller string) *Room {
			r := new(Room)
			r.Open(unsaved, caller, time.Now().Add(time.Hour))
			return r
		}
		takes := func(r *Room, n int64) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return r.Take(ctx, n)
		}
		one, again, other, third := room("one"), room("one"), room("two"), room("three")
		if err := takes(one, 40); err != nil {
			t.Fatal(err)
		}
		if err := takes(one, 90); err != nil {
			t.Errorf("who has room: %v", err)
		}
		if err := takes(again, 20); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("more than half for one caller: %v", err)
		}
		if err := takes(other, 50); err != nil {
			t.Errorf("another caller: %v", err)
		}
		if err := takes(third, 20); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("more than all: %v", err)
		}
		waited := make(chan error)
		go func() { waited <- third.Take(t.Context(), 1000) }()
		time.Sleep(time.Minute)
		one.Give()
		other.Give()
		if err := <-waited; err != nil {
			t.Errorf("alone, any size: %v", err)
		}
		healthy = false
		if err := takes(again, 20); !errors.Is(err, ErrUnsaved) {
			t.Errorf("while the store is away: %v", err)
		}
		third.Give()
		if len(unsaved.by) > 0 || unsaved.n != 0 {
			t.Errorf("%d are left of %v", unsaved.n, unsaved.by)
		}
	})
}
