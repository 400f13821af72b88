package webhooks

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/webhook"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// What waits for a receiver that the configuration names no more is seen until it goes with its task, and that is said.
func TestMessagesOfAReceiverThatIsNamedNoMoreAreNotLostInSilence(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		r.answers = refusing(100, webhook.Answer{Outcome: webhook.Rejected})
		b := start(t, s, r, settings(nil))
		b.complete(t, b.make(t, "T1", task.NewsCompleted))
		time.Sleep(time.Second)
		b.Change([]Receiver{settings(func(r *Receiver) { r.Name = "renamed" })})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		sent := len(r.got())
		if n, age := b.value(t, "berth.webhook.waiting", "ci"), b.value(t, "berth.webhook.oldest", "ci"); n != 1 || age < 590 {
			t.Errorf("%d wait, the oldest for %d s", n, age)
		}
		time.Sleep(time.Hour)
		b.end()
		if n := b.value(t, "berth.webhook.given_up", "forgotten"); n != 1 || b.left(t) != 0 || len(r.got()) != sent || sent != 1 {
			t.Errorf("%d given up, %d left, sent %d and %d times", n, b.left(t), sent, len(r.got()))
		}
		if said := b.log.String(); strings.Count(said, "names no more") != 1 || strings.Count(said, "is given up") != 1 {
			t.Errorf("got %s", said)
		}
		if n := b.value(t, "berth.webhook.waiting", "ci"); n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}

// A name that comes back has its messages sent.
func TestMessagesOfAReceiverThatIsNamedAgainAreSent(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		b := start(t, s, r, settings(nil))
		b.Change(nil)
		synctest.Wait()
		b.complete(t, b.make(t, "T1", task.NewsCompleted))
		time.Sleep(time.Minute)
		if n := len(r.got()); n != 0 {
			t.Errorf("%d sent", n)
		}
		b.Change([]Receiver{settings(nil)})
		time.Sleep(time.Minute)
		b.end()
		if n := len(r.got()); n != 1 || b.left(t) != 0 {
			t.Errorf("%d sent, %d left", n, b.left(t))
		}
	})
}

// A berth that is started after a receiver was renamed, once no berth is left that knew it, sees what waits for the former name.
func TestMessagesForAFormerNameAreSeenByABerthThatIsStartedLater(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		r.answers = refusing(100, webhook.Answer{Outcome: webhook.Rejected})
		former := start(t, s, r, settings(nil))
		former.complete(t, former.make(t, "T1", task.NewsCompleted))
		time.Sleep(time.Second)
		former.end()
		sent := len(r.got())
		b := start(t, s, r, settings(func(r *Receiver) { r.Name = "renamed" }))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n, age := b.value(t, "berth.webhook.waiting", "ci"), b.value(t, "berth.webhook.oldest", "ci"); n != 1 || age < 590 {
			t.Errorf("%d wait, the oldest for %d s", n, age)
		}
		b.Change([]Receiver{settings(func(r *Receiver) { r.Name = "another" })})
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := b.value(t, "berth.webhook.given_up", "forgotten"); n != 1 || b.left(t) != 0 || len(r.got()) != sent {
			t.Errorf("%d given up, %d left, sent %d times", n, b.left(t), len(r.got())-sent)
		}
		b.end()
		if said := b.log.String(); strings.Count(said, "names no more") != 1 || strings.Count(said, "is given up") != 1 {
			t.Errorf("got %s", said)
		}
		if n := b.value(t, "berth.webhook.waiting", "ci"); n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}

// So does one that runs since before there was that name.
func TestMessagesForAFormerNameAreSeenByABerthThatNeverHadIt(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		r.answers = refusing(100, webhook.Answer{Outcome: webhook.Rejected})
		b := start(t, s, r, settings(func(r *Receiver) { r.Name = "other" }))
		time.Sleep(time.Minute)
		former := start(t, s, r, settings(nil))
		former.complete(t, former.make(t, "T1", task.NewsCompleted))
		time.Sleep(time.Second)
		former.end()
		time.Sleep(recallEvery)
		synctest.Wait()
		b.end()
		if n := strings.Count(b.log.String(), "names no more"); n != 1 {
			t.Errorf("told %d times in %s", n, b.log)
		}
	})
}

// A name is remembered for a month after the last berth that had it.
func TestFormerNamesAreForgotten(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		b := start(t, s, r, settings(nil))
		time.Sleep(rememberEvery + time.Hour)
		b.end()
		for after, want := range []int{1, 0} {
			time.Sleep(rememberedFor - 2*time.Hour*time.Duration(1-after))
			if names, err := b.ledger.Outbox.Receivers(t.Context()); err != nil || len(names) != want {
				t.Errorf("got %q, %v, want %d", names, err, want)
			}
		}
	})
}
