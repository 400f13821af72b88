package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp/inquiry"
	"berth/internal/webhook"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

var ends = []task.News{task.NewsCompleted, task.NewsFailed, task.NewsCancelled}

// Each way to end is told at once, once, by one of the berths, and says no more than it is to.
func TestEachEndIsToldOnce(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		b := start(t, s, r, settings(nil))
		for range 2 {
			start(t, s, r, settings(nil))
		}
		synctest.Wait()
		b.complete(t, b.make(t, "T1", ends...))
		b.step(t, b.make(t, "T2", ends...), task.Cancel, nil)
		b.step(t, b.make(t, "T3", ends...), task.Orphan, func(op *task.Op) { op.Of = b.ledger.Holder })
		b.complete(t, b.make(t, "T4", task.NewsFailed)) // of which its receiver does not hear
		b.complete(t, b.make(t, "T5"))                  // which has none
		synctest.Wait()
		got := map[string]string{}
		for _, p := range r.got() {
			if p.at != 0 {
				t.Errorf("%s was told after %v", p.body.Data.ID, p.at)
			}
			got[p.body.Data.ID] += p.body.Type
		}
		if want := "map[T1:task.completed T2:task.cancelled T3:task.failed]"; fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
		time.Sleep(10 * time.Minute)
		if n := len(r.got()); n != 3 || b.left(t) != 0 {
			t.Errorf("%d messages were sent, and %d stand", n, b.left(t))
		}
		if n := b.value(t, "berth.webhook.deliveries", "delivered"); n != 3 {
			t.Errorf("the berth counts %d", n)
		}
	})
}

func TestAMessageIsThin(t *testing.T) {
	at := time.Date(2026, 11, 23, 14, 5, 6, 7e6, time.UTC)
	m := messageOf(task.Message{To: "ci", Task: "T1", About: "end"}, &task.Task{
		ID: "T1", Pool: "main", Tool: "work", Principal: "alice", Message: "said", Updated: at, Outcome: "o",
	}, task.NewsCompleted)
	if want := `{"type":"task.completed","timestamp":"2026-11-23T14:05:06.007Z","data":{"taskId":"T1","pool":"main","tool":"work","status":"completed"}}`; string(m.Body) != want {
		t.Errorf("got %s, want %s", m.Body, want)
	}
	if strings.ContainsAny(m.ID, ". ") || m.ID != (task.Message{To: "ci", Task: "T1", About: "end"}).ID() {
		t.Errorf("its id is %q", m.ID)
	}
}

// A task that asks is told of while it asks, and each set of questions once.
func TestWhatATaskAsksIsTold(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		b := start(t, s, r, settings(nil))
		e := b.step(t, b.make(t, "T1", task.NewsAsked), task.Dispatch, nil)
		ask := func(key string) func(op *task.Op) {
			return func(op *task.Op) {
				op.Round, op.Asks = e.Round, []inquiry.Input{{Key: key, Value: json.RawMessage(`{}`)}}
			}
		}
		e = b.step(t, e, task.Pause, ask("a"))
		synctest.Wait()
		e = b.step(t, e, task.Answer, func(op *task.Op) { op.Answers = []inquiry.Input{{Key: "a", Value: json.RawMessage(`1`)}} })
		e = b.step(t, e, task.Dispatch, func(op *task.Op) { op.Round = 1 })
		e = b.step(t, e, task.Pause, ask("b"))
		synctest.Wait()
		b.step(t, e, task.Cancel, nil) // which is not among the events
		time.Sleep(time.Minute)
		if got := r.types(); got != "task.input_required task.input_required" || r.got()[0].id == r.got()[1].id || b.left(t) != 0 {
			t.Errorf("got %s as %v, %d stand", got, r.got(), b.left(t))
		}
	})
}

// A message stands before its step: it says nothing until that is stored, and is told by whoever finds it
// where its berth has died meanwhile. It is the one that whoever ends the task then would have listed.
func TestAMessageWaitsForItsStep(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		dead := start(t, s, r, settings(nil))
		e := dead.make(t, "T1", ends...)
		if err := dead.ledger.Outbox.Add(t.Context(), e.Task, e.AllMessages()); err != nil {
			t.Fatal(err)
		}
		dead.end()
		b := start(t, s, r, settings(nil))
		time.Sleep(10 * time.Minute)
		if got := r.got(); len(got) != 0 {
			t.Fatalf("told before it was so: %v", got)
		}
		b.step(t, e, task.Orphan, func(op *task.Op) { op.Of = dead.ledger.Holder })
		synctest.Wait()
		if got := r.types(); got != "task.failed" || b.left(t) != 0 {
			t.Errorf("got %q, %d stand", got, b.left(t))
		}
	})
}

// A berth that dies over an attempt leaves the message to the others, which send it under the same id once
// the attempt must be over.
func TestAnotherBerthSendsWhatADeadOneWasSending(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		never := make(chan struct{})
		r.answers = append(r.answers, func(context.Context) webhook.Answer {
			<-never // the process is gone, and nobody hears of the answer
			return webhook.Answer{Outcome: webhook.Delivered}
		})
		dead := start(t, s, r, settings(nil))
		dead.complete(t, dead.make(t, "T1", ends...))
		synctest.Wait()
		b := start(t, s, r, settings(nil))
		time.Sleep(time.Minute)
		got := r.got()
		if len(got) != 2 || got[0].id != got[1].id || got[1].at < settings(nil).Timeout || b.left(t) != 0 {
			t.Errorf("got %v, %d stand", got, b.left(t))
		}
		close(never)
	})
}

// An attempt that is cut as the process ends is no attempt, and the next berth need not wait.
func TestWhatIsCutIsLeftToOthersAtOnce(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		r.answers = append(r.answers, hanging)
		b := start(t, s, r, settings(func(r *Receiver) { r.Timeout = time.Minute }))
		b.complete(t, b.make(t, "T1", ends...))
		synctest.Wait()
		b.end()
		next := start(t, s, r, settings(func(r *Receiver) { r.Timeout = time.Minute }))
		synctest.Wait()
		if got := r.got(); len(got) != 2 || got[1].at > lastMoment || next.left(t) != 0 {
			t.Errorf("got %v, %d stand", got, next.left(t))
		}
	})
}

// The pauses double, each shortened by chance to half at most; then the message is given up, and that is told.
func TestAMessageIsTriedAndGivenUp(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		r.answers = refusing(100, webhook.Answer{Outcome: webhook.Rejected})
		b := start(t, s, r, settings(nil))
		other := start(t, s, r, settings(nil))
		b.complete(t, b.make(t, "T1", ends...))
		time.Sleep(29 * time.Minute)
		got := r.got()
		if len(got) != 5 {
			t.Fatalf("%d attempts: %v", len(got), got)
		}
		for i, most := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute} {
			if pause := got[i+1].at - got[i].at; pause < most/2 || pause > most+2*again {
				t.Errorf("pause %d is %v, want %v to %v", i, pause, most/2, most)
			}
		}
		if n := b.value(t, "berth.webhook.given_up", reasonAttempts) + other.value(t, "berth.webhook.given_up", reasonAttempts); n != 1 || b.left(t) != 0 {
			t.Errorf("%d are counted as given up, %d stand", n, b.left(t))
		}
		b.end()
		other.end()
		if log := b.log.String() + other.log.String(); strings.Count(log, "a webhook message is given up") != 1 || !strings.Contains(log, "reason=attempts attempts=5") {
			t.Errorf("the log says %s", log)
		}
	})
}

// The message waits as long as the receiver asks, others a minute at most.
func TestAReceiverSaysWhenToComeBack(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		r.answers = refusing(1, webhook.Answer{Outcome: webhook.Rejected, After: 3 * time.Minute})
		b := start(t, s, r, settings(nil))
		first, second := b.make(t, "T1", ends...), b.make(t, "T2", ends...)
		b.complete(t, first)
		synctest.Wait()
		b.complete(t, second)
		time.Sleep(20 * time.Second) // beats go by
		if n := b.value(t, "berth.webhook.waiting", "ci"); n != 2 || len(r.got()) != 1 {
			t.Errorf("%d wait, %d were sent", n, len(r.got()))
		}
		if n := b.value(t, "berth.webhook.oldest", "ci"); n < 15 || n > 20 {
			t.Errorf("the oldest is %d s old", n)
		}
		time.Sleep(5 * time.Minute)
		got := r.got()
		if len(got) != 3 || got[1].id == got[0].id || got[1].at < pauseMost || got[2].at < 3*time.Minute {
			t.Errorf("got %v", got)
		}
		if n := b.value(t, "berth.webhook.oldest", "ci") + b.value(t, "berth.webhook.waiting", "ci"); n != 0 {
			t.Errorf("something waits yet: %d", n)
		}
	})
}

// Of two answers that ask for patience at once the longer pause holds.
func TestAPauseIsNotCutShort(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		asks := func(takes, after time.Duration) func(context.Context) webhook.Answer {
			return func(context.Context) webhook.Answer {
				time.Sleep(takes)
				return webhook.Answer{Outcome: webhook.Rejected, After: after, Err: errors.New("429")}
			}
		}
		r.answers = []func(context.Context) webhook.Answer{asks(time.Second, time.Hour), asks(2*time.Second, time.Second)}
		b := start(t, s, r, settings(nil))
		for i := range 4 {
			b.complete(t, b.make(t, fmt.Sprint("T", i), ends...))
		}
		time.Sleep(2 * time.Minute)
		got := r.got()
		if len(got) < 4 || got[1].at != got[0].at || got[2].at < pauseMost {
			t.Errorf("got %v", got)
		}
	})
}

// 410: what was to be told is given up, and so is what comes for a day.
func TestAReceiverThatIsGoneIsSentNothing(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		r.answers = refusing(1, webhook.Answer{Outcome: webhook.Gone})
		b := start(t, s, r, settings(nil))
		for _, id := range []string{"T1", "T2"} {
			b.complete(t, b.make(t, id, ends...))
			time.Sleep(time.Minute)
		}
		if n := b.value(t, "berth.webhook.given_up", reasonGone); n != 2 || len(r.got()) != 1 || b.left(t) != 0 {
			t.Errorf("%d given up, %d sent, %d stand", n, len(r.got()), b.left(t))
		}
		b.Change([]Receiver{settings(func(r *Receiver) { r.URL = "https://elsewhere.example.com" })})
		synctest.Wait()
		b.complete(t, b.make(t, "T3", ends...))
		synctest.Wait()
		if len(r.got()) != 2 {
			t.Error("a receiver whose keys have changed is sent nothing")
		}
	})
}

// What is too old is given up, and so is what no task stands behind.
func TestOldNewsIsGivenUp(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		b := start(t, s, r) // which does not know the receiver
		b.complete(t, b.make(t, "T1", ends...))
		e := b.make(t, "T2", ends...)
		if err := b.ledger.Outbox.Add(t.Context(), e.Task, e.AllMessages()); err != nil {
			t.Fatal(err)
		}
		if err := b.ledger.Records.Forget(t.Context(), "T2"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(31 * time.Minute)
		b.Change([]Receiver{settings(nil)})
		time.Sleep(time.Minute)
		age, forgotten := b.value(t, "berth.webhook.given_up", reasonAge), b.value(t, "berth.webhook.given_up", reasonForgotten)
		if age != 1 || forgotten != 1 || len(r.got()) != 0 || b.left(t) != 0 {
			t.Errorf("%d are too old, %d forgotten, %d sent, %d stand", age, forgotten, len(r.got()), b.left(t))
		}
	})
}

// A task is forgotten before its message is taken: one berth says so, however late the next attempt was due.
func TestAMessageIsGivenUpWithItsTask(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		r.answers = refusing(1000, webhook.Answer{Outcome: webhook.Rejected, After: 1000 * time.Hour})
		patient := settings(func(r *Receiver) { r.Attempts, r.MaxBackoff, r.MaxAge = 1000, 24*time.Hour, 24*time.Hour })
		b, other := start(t, s, r, patient), start(t, s, r, patient)
		b.complete(t, b.make(t, "T1", ends...))
		time.Sleep(time.Hour + 5*time.Minute)
		if n := b.value(t, "berth.webhook.given_up", reasonForgotten) + other.value(t, "berth.webhook.given_up", reasonForgotten); n != 1 || b.left(t) != 0 {
			t.Errorf("%d are given up as forgotten, %d stand; %d attempts", n, b.left(t), len(r.got()))
		}
		if n := b.value(t, "berth.webhook.waiting", "ci") + other.value(t, "berth.webhook.waiting", "ci"); n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}

// A message that is listed again after it was delivered, by a step that is taken again, is not sent again.
func TestWhatIsListedTwiceIsSentOnce(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		b := start(t, s, r, settings(nil))
		e := b.complete(t, b.make(t, "T1", ends...))
		synctest.Wait()
		if err := b.ledger.Outbox.Add(t.Context(), e.Task, e.AllMessages()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if len(r.got()) != 1 || b.left(t) != 0 {
			t.Errorf("sent %d times, %d stand", len(r.got()), b.left(t))
		}
	})
}

// An outbox that is full stops no task: what is not kept is counted.
func TestAFullOutboxStopsNoTask(t *testing.T) {
	world(t, func(t *testing.T, s ledger.Store, r *receiver) {
		b := start(t, s, r) // which does not know the receiver, so that all of them stay
		e := b.make(t, "T1", ends...)
		for i := range ledger.MaxMessages {
			if err := s.AddMember(t.Context(), b.ledger.Lists.ToldTo("ci"), fmt.Sprint("X", i, " end"), time.Hour, 0); err != nil {
				t.Fatal(err)
			}
		}
		if e = b.complete(t, e); e.State != task.Completed {
			t.Errorf("the task is %s", e.State)
		}
		if n := b.value(t, "berth.webhook.given_up", reasonFull); n != 1 {
			t.Errorf("%d are counted", n)
		}
	})
}

// A task without receivers costs the store what it cost before there were any.
func TestATaskWithoutReceiversCostsNothing(t *testing.T) {
	before := task.Task{ID: "T1", State: task.Dispatched}
	after := before
	after.State = task.Completed
	if n := testing.AllocsPerRun(100, func() {
		if after.Messages(&before) != nil {
			t.Error("it has messages")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
