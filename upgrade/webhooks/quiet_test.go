package webhooks

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"berth/internal/webhook"
	"berth/upgrade/ledger"
)

var away = webhook.Answer{Outcome: webhook.Unreachable, Err: errors.New("nobody is there")}

// A receiver that is away is tried by one berth of several, and by another one once that is gone. When it is back it is told everything.
func TestAReceiverThatIsAwayIsTriedByOneBerth(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		const berths, messages = 3, 40
		r.patience, r.answers = true, refusing(100_000, away)
		often := settings(func(r *Receiver) { r.Attempts, r.Backoff, r.MaxBackoff = 1000, time.Second, time.Second })
		var all []*berth
		for range berths {
			all = append(all, start(t, s, r, often))
		}
		for i := range messages {
			b := all[i%berths]
			b.complete(t, b.make(t, fmt.Sprint("T", i), ends...))
		}
		tried := func(d time.Duration) int {
			before := len(r.got())
			time.Sleep(d)
			return len(r.got()) - before
		}
		tried(time.Minute)
		if n := tried(10 * time.Minute); n > 90 || n < 30 { // each pause is often.Alone, and up to a quarter of it more
			t.Errorf("tried %d times in ten minutes", n)
		}
		for _, b := range all[1:] {
			b.end()
		}
		tried(time.Minute)
		if n := tried(5 * time.Minute); n > 30 || n < 15 {
			t.Errorf("the berth that is left tried %d times in five minutes", n)
		}
		for tried(time.Second) == 0 {
		}
		r.takeAll()
		time.Sleep(often.Alone + often.Alone/2 + time.Second)
		if holder, err := all[0].ledger.Outbox.QuietFor(t.Context(), "ci"); holder != "" || err != nil {
			t.Errorf("others are to send nothing to a receiver that is back: %q, %v", holder, err)
		}
		if n := all[0].left(t); n != 0 {
			t.Errorf("%d messages stand once the receiver is back", n)
		}
	})
}

// A berth that alone cannot reach the receiver keeps no other from telling it, not even one whose last message was not taken either.
func TestABerthThatIsCutOffKeepsNoOtherFromTheReceiver(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		cut := &receiver{began: r.began, patience: true, answers: refusing(100_000, away)}
		r.patience, r.answers = true, refusing(2, away)
		often := settings(func(r *Receiver) { r.Attempts, r.Backoff, r.MaxBackoff = 1000, time.Second, time.Second })
		one := start(t, s, cut, often)
		for i := range 10 {
			one.complete(t, one.make(t, fmt.Sprint("T", i), ends...))
		}
		time.Sleep(time.Minute)
		other := start(t, s, r, often)
		time.Sleep((heedFor - 1) * often.Alone)
		if n := len(r.got()); n != 2 { // as many at once as it may send
			t.Errorf("the other berth sent %d times", n)
		}
		time.Sleep(2 * often.Alone)
		if n := other.left(t); n != 0 {
			t.Fatalf("%d messages stand", n)
		}
		for i := range 3 {
			one.complete(t, one.make(t, fmt.Sprint("U", i), ends...))
			time.Sleep(time.Minute)
		}
		if n := other.left(t); n != 0 {
			t.Errorf("%d messages stand once the other berth's are taken", n)
		}
	})
}

// A berth that wants nothing sent and is gone holds up no message for longer than it said.
func TestTheWordOfABerthThatIsGoneRunsOut(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		r.patience, r.answers = true, refusing(7, away)
		often := settings(func(r *Receiver) { r.Backoff, r.MaxBackoff = time.Second, time.Second })
		gone := start(t, s, r, often)
		for i := range 3 {
			gone.complete(t, gone.make(t, fmt.Sprint("T", i), ends...))
		}
		time.Sleep(5 * time.Second)
		if got := r.got(); len(got) != 5 {
			t.Errorf("sent %d times", len(got))
		}
		gone.end()
		said := time.Now()
		b := start(t, s, r, often)
		time.Sleep(often.Alone)
		if got := r.got(); len(got) != 7 { // as many at once as it may send
			t.Errorf("sent %d times while the receiver is left alone", len(got))
		}
		time.Sleep(time.Until(said.Add(often.Alone + often.Timeout + claimSpare + 2*b.ledger.Epoch.Beat())))
		if n := b.left(t); n != 0 {
			t.Errorf("%d messages stand", n)
		}
	})
}
