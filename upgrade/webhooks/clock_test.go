package webhooks

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/webhook"
	"berth/upgrade/ledger"
)

// stepping is a store whose clock is set.
type stepping struct {
	ledger.Store
	off atomic.Int64
}

func (s *stepping) Now(ctx context.Context) (time.Time, error) {
	now, err := s.Store.Now(ctx)
	return now.Add(time.Duration(s.off.Load())), err
}

// set has the clock be off by so much, and berths hear of it, as with a beat.
func (s *stepping) set(t *testing.T, off time.Duration, berths ...*berth) {
	t.Helper()
	s.off.Store(int64(off))
	for _, b := range berths {
		if err := b.ledger.Clock.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A store's clock that goes back holds up no message for longer than its pause, at whichever berth, and the oldest is told of
// meanwhile.
func TestAClockThatGoesBackHoldsUpNoMessage(t *testing.T) {
	for name, knows := range map[string]bool{"who tried": true, "another": false} {
		t.Run(name, func(t *testing.T) {
			world(t, func(t *testing.T, s ledger.Store, r *receiver) {
				store := &stepping{Store: s}
				r.answers = refusing(2, webhook.Answer{Outcome: webhook.Rejected})
				b := start(t, store, r, settings(nil))
				time.Sleep(time.Minute)
				b.complete(t, b.make(t, "T1", ends...))
				synctest.Wait()
				store.set(t, -10*time.Minute, b)
				if !knows {
					b.end()
					b = start(t, store, r, settings(nil))
				}
				time.Sleep(12 * time.Second)
				if n := b.value(t, "berth.webhook.oldest", "ci"); n < 7 {
					t.Errorf("the oldest message is %d s old", n)
				}
				time.Sleep(22 * time.Second)
				if got := r.got(); len(got) != 3 || b.left(t) != 0 {
					t.Errorf("sent %d times, %d stand: %v", len(got), b.left(t), got)
				}
			})
		})
	}
}

// A berth that looked while the store's clock was wrong looks again within the longest pause of its rule.
func TestAClockThatGoesBackAndForthIsHeardOf(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		store := &stepping{Store: s}
		store.set(t, -40*time.Minute)
		r.answers = refusing(1, webhook.Answer{Outcome: webhook.Rejected, After: 30 * time.Minute})
		patient := settings(func(r *Receiver) { r.MaxAge = 2 * time.Hour })
		b := start(t, store, r, patient)
		b.complete(t, b.make(t, "T1", ends...))
		synctest.Wait()
		b.end()
		b = start(t, store, r, patient)
		time.Sleep(10 * time.Second)
		store.set(t, 0, b)
		time.Sleep(patient.MaxBackoff)
		if got := r.got(); len(got) != 2 || b.left(t) != 0 {
			t.Errorf("sent %d times, %d stand: %v", len(got), b.left(t), got)
		}
	})
}

// Nobody sends what another berth is sending, whatever the store's clock is set to.
func TestAClockThatGoesBackHasNoMessageSentTwice(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		store := &stepping{Store: s}
		r.answers = append(r.answers, func(context.Context) webhook.Answer {
			time.Sleep(settings(nil).Timeout)
			return webhook.Answer{Outcome: webhook.Delivered}
		})
		b := start(t, store, r, settings(nil))
		b.complete(t, b.make(t, "T1", ends...))
		synctest.Wait()
		store.set(t, -10*time.Minute)
		start(t, store, r, settings(nil))
		time.Sleep(time.Minute)
		if got := r.got(); len(got) != 1 || b.left(t) != 0 {
			t.Errorf("sent %d times, %d stand: %v", len(got), b.left(t), got)
		}
	})
}
