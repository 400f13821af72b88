package routing_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
)

// TestOneCallersQuestionsDoNotHoldUpAnothers: those who guess ids by the hundred wait
// for themselves.
func TestOneCallersQuestionsDoNotHoldUpAnothers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := routing.NewAsker(poolOf("a"))
		for i := range 300 {
			go asker.Ask(t.Context(), routing.Question{Key: fmt.Sprint("guess ", i), Caller: fmt.Sprint("guesser ", i%3), Ask: denies})
		}
		synctest.Wait()
		begun := time.Now()
		u, err := asker.Ask(t.Context(), routing.Question{Key: "own", Caller: "honest", Ask: knows})
		if err != nil || u == nil {
			t.Fatalf("got %v, %v, want the owner", u, err)
		}
		if waited := time.Since(begun); waited > 500*time.Millisecond {
			t.Errorf("waited %v behind other callers' questions", waited)
		}
		time.Sleep(time.Minute) // lets the rest end
	})
}

// TestSlowQuestionsOfOneCallerLeaveATurnToOthers: an upstream that does not say keeps
// the guesser's questions under way.
func TestSlowQuestionsOfOneCallerLeaveATurnToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := routing.NewAsker(poolOf("a"))
		stuck := func(ctx context.Context, _ *routing.Upstream) routing.Verdict {
			<-ctx.Done()
			return routing.Unclear
		}
		for i := range 50 {
			go asker.Ask(t.Context(), routing.Question{Key: fmt.Sprint("guess ", i), Caller: "guesser", Ask: stuck})
		}
		time.Sleep(time.Second)
		if _, err := asker.Ask(t.Context(), routing.Question{Key: "own", Caller: "honest", Ask: knows}); err != nil {
			t.Errorf("got %v, want the owner", err)
		}
		time.Sleep(time.Minute)
	})
}

// TestTurnsThatAreNotWaitedForAreNotLost: those who give up leave their place to others.
func TestTurnsThatAreNotWaitedForAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := routing.NewAsker(poolOf("a"))
		stuck := func(ctx context.Context, _ *routing.Upstream) routing.Verdict {
			<-ctx.Done()
			return routing.Unclear
		}
		for i := range 40 {
			go asker.Ask(t.Context(), routing.Question{Key: fmt.Sprint(i), Caller: fmt.Sprint(i % 7), Ask: stuck})
		}
		time.Sleep(time.Minute)
		for i := range 5 {
			if _, err := asker.Ask(t.Context(), routing.Question{Key: fmt.Sprint("later ", i), Ask: knows}); err != nil {
				t.Errorf("question %d afterwards: %v", i, err)
			}
		}
	})
}

func denies(context.Context, *routing.Upstream) routing.Verdict { return routing.Denies }

func knows(context.Context, *routing.Upstream) routing.Verdict { return routing.Knows }
