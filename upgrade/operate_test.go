package upgrade

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/upgrade/queues"
	"berth/upgrade/task"
)

// found are the states of the tasks that an operator is told of at a berth.
func (b *berth) found(t *testing.T) map[string]State {
	t.Helper()
	ids, all, err := b.Overview.Found(t.Context(), 1000)
	if err != nil || all != len(ids) {
		t.Fatalf("%d ids of %d, %v", len(ids), all, err)
	}
	tasks, whole, err := b.Overview.ReadSome(t.Context(), ids)
	if err != nil || !whole {
		t.Fatalf("whole: %v, %v", whole, err)
	}
	states := map[string]State{}
	for _, one := range tasks {
		states[one.ID] = one.State
	}
	return states
}

// An operator may cancel at a berth that cannot read the task: it is cancelled once the store is back, and only if it is of the pool
// that the operator named.
func TestACancelOfATaskThatCannotBeReadIsOwed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{shared: true}, newTool())
		time.Sleep(time.Second)
		held, waits, others := berths[0].hand(t, rule(nil), "held hang"), berths[0].hand(t, rule(nil), "waits ask:k result"), berths[0].hand(t, rule(nil), "others hang")
		synctest.Wait()
		berths[1].line.cut()
		for id, pool := range map[string]string{held: "", waits: poolName, others: "another"} {
			if _, err := berths[1].Orders.Cancel(t.Context(), id, pool, "cancelled by the operator"); !errors.Is(err, storage.ErrUnavailable) {
				t.Fatalf("with the store away: got %v", err)
			}
		}
		time.Sleep(time.Minute)
		berths[0].mustState(t, held, Dispatched)
		berths[1].line.mend()
		time.Sleep(time.Minute)
		for _, id := range []string{held, waits} {
			if v := berths[0].see(t, id); v.State != Cancelled || v.shown().Message != "cancelled by the operator" {
				t.Errorf("its client is told %s, %q", v.State, v.shown().Message)
			}
		}
		berths[0].mustState(t, others, Dispatched)
		if got := berths[0].Held(); got != 1 {
			t.Errorf("%d calls are held, want the one of another pool", got)
		}
	})
}

// Operators find each task at each berth, whether anybody holds it or not, and after the death of
// whoever did.
func TestEveryTaskIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		time.Sleep(time.Second)
		want := map[string]State{}
		for name, state := range map[string]State{"hangs hang": Dispatched, "ends result": Completed, "fails error": Failed, "asks ask:k hang": InputRequired} {
			want[berths[0].hand(t, rule(nil), name)] = state
		}
		cancelled := berths[0].hand(t, rule(nil), "cancelled hang")
		synctest.Wait()
		if _, err := berths[1].Orders.Cancel(t.Context(), cancelled, "", "cancelled by the operator"); err != nil {
			t.Fatal(err)
		}
		want[cancelled] = Cancelled
		synctest.Wait()
		for i, b := range berths {
			if got := b.found(t); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("berth %d finds %v, want %v", i, got, want)
			}
		}
		if v := berths[0].see(t, cancelled); v.State != Cancelled || v.shown().Message != "cancelled by the operator" {
			t.Errorf("its client is told %s, %q", v.State, v.shown().Message)
		}
		berths[0].kill()
		time.Sleep(graceful)
		synctest.Wait()
		for id, state := range want {
			if state == Dispatched {
				want[id] = Failed
			}
		}
		if got := berths[1].found(t); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("after the death of the holder %v are found, want %v", got, want)
		}
	})
}

// That tasks are found costs who makes one nothing: the list is joined when nobody holds it any more.
func TestMakingATaskListsItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		b.hand(t, rule(nil), "first hang")
		synctest.Wait()
		b.line.mu.Lock()
		b.line.logged, b.line.ops = true, nil
		b.line.mu.Unlock()
		h, err := b.Maker.Create(t.Context(), creation(rule(nil), "work hang"))
		if err != nil {
			t.Fatal(err)
		}
		b.line.mu.Lock()
		ops := slices.Clone(b.line.ops)
		b.line.mu.Unlock()
		if len(ops) != 5 { // holder, its list, the principal's list, call, record
			t.Errorf("%d operations made a task:\n%s", len(ops), strings.Join(ops, "\n"))
		}
		h.Start(nil)
	})
}

// timeline is what became of a task, in words.
func (b *berth) timeline(t *testing.T, id string) (told []string) {
	t.Helper()
	one, err := b.Overview.Read(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range one.Timeline() {
		what := step.What
		if step.Upstream != "" {
			what += " to " + step.Upstream
		}
		if step.Detail != "" {
			what += " " + step.Detail
		}
		told = append(told, what)
	}
	return told
}

func (b *berth) mustHaveLived(t *testing.T, id string, want ...string) {
	t.Helper()
	if got := b.timeline(t, id); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A task tells what became of it, who held it, and where it was sent.
func TestATaskTellsWhatBecameOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		time.Sleep(time.Second)
		asks := berths[0].hand(t, rule(queueing), "asks ask:k result")
		synctest.Wait()
		if err := berths[1].Steps.Update(t.Context(), asks, somebody, inputs("k", `{"action":"accept"}`), &Envelope{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(2 * time.Second)
		berths[0].mustHaveLived(t, asks, "made", "queued", "sent to u", "asked", "answered", "queued", "sent to u", "ended completed")
		one, _ := berths[0].Overview.Read(t.Context(), asks)
		steps := one.Timeline()
		if steps[0].Holder != berths[0].Holder() || steps[len(steps)-1].Holder != berths[1].Holder() {
			t.Errorf("held by %q at first, and by %q at last", steps[0].Holder, steps[len(steps)-1].Holder)
		}

		lost := berths[0].hand(t, rule(nil), "lost hang")
		again := berths[0].hand(t, rule(func(r *Rule) { r.OnOrphan = task.OrphanRerun }), "again hang")
		synctest.Wait()
		berths[0].kill()
		time.Sleep(graceful)
		synctest.Wait()
		berths[1].mustHaveLived(t, lost, "made", "sent to u", "ended failed holder_lost")
		one, _ = berths[1].Overview.Read(t.Context(), again)
		if got := berths[1].timeline(t, again); !slices.Contains(got, "adopted") {
			t.Errorf("got %q of %+v", got, one)
		}
	})
}

// A queue that is paused at one berth is at all, and at those that start later; what runs goes on.
func TestAPauseHoldsAtEveryBerth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		s := settings{at: newCell(memory(t)), keys: givenKeys(t)}
		berths := startBerths(t, 2, s, up)
		time.Sleep(time.Second)
		runs := berths[0].hand(t, rule(queueing), "runs"+bounded+" result/10s")
		synctest.Wait()
		queue := berths[0].see(t, runs).Terms.Queue
		if err := berths[1].Queues.Pause(t.Context(), queue, "ann"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(queues.PauseFresh)
		var waiting []string
		for i, b := range berths {
			waiting = append(waiting, b.hand(t, rule(queueing), fmt.Sprintf("waits-%d%s result", i, bounded)))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		berths[0].mustState(t, runs, Completed)
		for i, id := range waiting {
			if v := berths[0].mustState(t, id, Queued); v.shown().Message != "queued, "+ordinal(i+1)+"; paused" {
				t.Errorf("its client is told %q", v.shown().Message)
			}
		}
		s.shared = true
		later := startBerths(t, 1, s, up)[0]
		if pauses, err := later.Queues.Pauses(t.Context()); err != nil || pauses[queue].By != "ann" {
			t.Errorf("a berth that starts later knows of %v, %v", pauses, err)
		}
		if err := later.Queues.Resume(t.Context(), queue); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, id := range waiting {
			berths[0].mustState(t, id, Completed)
		}
	})
}

// A failed call is made again by an order where its rule says that the tool may run twice, once, and as
// another task: the first one stays what its client was told that it is.
func TestAFailedCallIsMadeAgainOnceByAnOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		berths := startBerths(t, 2, settings{}, up)
		time.Sleep(time.Second)
		twice := func(r *Rule) { r.OnOrphan = task.OrphanRerun }
		failed := berths[0].hand(t, rule(twice), "call error")
		once := berths[0].hand(t, rule(nil), "once error")
		runs := berths[0].hand(t, rule(twice), "runs hang")
		synctest.Wait()
		for what, id := range map[string]string{"the rule allows one run": once, "it has not failed": runs} {
			if _, err := berths[1].Orders.Rerun(t.Context(), id); !errors.Is(err, ErrNotRerunnable) {
				t.Errorf("%s: got %v", what, err)
			}
		}
		made, err := berths[1].Orders.Rerun(t.Context(), failed)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := up.times("call", 0); n != 2 {
			t.Errorf("ran %d times", n)
		}
		berths[0].mustState(t, failed, Failed)
		berths[0].mustState(t, made.ID, Failed)
		if _, err := berths[0].Orders.Rerun(t.Context(), failed); !errors.Is(err, ErrNotRerunnable) || !strings.Contains(err.Error(), made.ID) {
			t.Errorf("a second order: %v", err)
		}
		if _, err := berths[0].Orders.Rerun(t.Context(), made.ID); err != nil {
			t.Errorf("that one may be made again: %v", err)
		}
		synctest.Wait()
		if n := up.times("call", 0); n != 3 {
			t.Errorf("ran %d times", n)
		}
		berths[0].mustHaveLived(t, failed, "made", "sent to u", "ended failed", "rerun "+made.ID)
	})
}

// An order whose berth died before it had made the task may be given again a minute later, and whoever
// does so earlier is told that.
func TestRerunThatCameToNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		b := startBerths(t, 1, settings{}, up)[0]
		time.Sleep(time.Second)
		failed := b.hand(t, rule(func(r *Rule) { r.OnOrphan = task.OrphanRerun }), "call error")
		synctest.Wait()
		e, err := b.Reader.records.read(t.Context(), failed)
		if err != nil {
			t.Fatal(err)
		}
		op := b.ledger.Op(task.Rerun)
		op.Again = "Tgone"
		if _, err := b.ledger.Records.Apply(t.Context(), e, op); err != nil {
			t.Fatal(err)
		}
		_, err = b.Orders.Rerun(t.Context(), failed)
		if !errors.Is(err, ErrNotRerunnable) || !strings.Contains(err.Error(), "order it again in a minute") || strings.Contains(err.Error(), "was made again as") {
			t.Errorf("at once: %v", err)
		}
		time.Sleep(rerunTime + time.Second)
		if _, err := b.Orders.Rerun(t.Context(), failed); err != nil {
			t.Errorf("a minute later: %v", err)
		}
		synctest.Wait()
		if n := up.times("call", 0); n != 2 {
			t.Errorf("ran %d times", n)
		}
	})
}

// A record keeps the first step and the last ones.
func TestStepsAreBounded(t *testing.T) {
	one := &Task{ID: "T", State: Queued, Holder: "a", Created: time.UnixMilli(0), Terms: task.Terms{Slots: 1, Rerun: true}}
	for n := range 100 {
		next, _, err := task.Transition(one, &task.Op{ID: fmt.Sprint(n), Kind: task.Dispatch, Holder: "a", Round: n, Upstream: "u;v", At: time.UnixMilli(int64(n))})
		if err != nil {
			t.Fatal(err)
		}
		one = next
	}
	told := one.Timeline()
	if len(told) != task.MaxSteps || told[0].What != "made" || told[len(told)-1].At != time.UnixMilli(99) || told[len(told)-1].Upstream != "u;v" {
		t.Errorf("got %d steps: %+v", len(told), told)
	}
}
