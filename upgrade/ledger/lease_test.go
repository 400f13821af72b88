package ledger

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Whoever waits for a renewal that fails is not made to wait for as many as others ask for.
func TestARenewalThatFailsIsTriedOnceForAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("refused")
		tried := 0 // by who has the turn
		l := newLease(Lists{}, "holder", time.Minute, func(context.Context) (Word, error) {
			tried++
			time.Sleep(100 * time.Millisecond)
			return Word{}, refused
		})
		var asking sync.WaitGroup
		for range 10 {
			asking.Go(func() {
				if err := l.Renew(t.Context()); !errors.Is(err, refused) {
					t.Errorf("got %v, want what came of a renewal", err)
				}
			})
		}
		asking.Wait()
		if tried != 2 {
			t.Errorf("renewals: got %d, want the one under way and one for all", tried)
		}
		if _ = l.Renew(t.Context()); tried != 3 {
			t.Errorf("renewals: got %d, want one more for who comes later", tried)
		}
	})
}
