package upgrade

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/quota"
)

const kib = 1 << 10

// from is a call of a caller's.
func from(caller string, r *Rule, argument string) Creation {
	c := creation(r, argument)
	c.Principal, c.Caller = "", caller
	return c
}

// tries makes a task for a caller, and returns which bound refused it, "" if none did.
func (b *berth) tries(t *testing.T, c Creation) (id, refused string) {
	t.Helper()
	h, err := b.Maker.Create(t.Context(), c)
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return "", refusal.Reason
	}
	if err != nil {
		t.Fatal(err)
	}
	h.Start(nil)
	handle(h)
	synctest.Wait()
	return h.ID, ""
}

// bounding returns a berth whose tasks may keep so much.
func bounding(t *testing.T, s settings, kept Bounds) *berth {
	s.kept = kept
	return startBerths(t, 1, s, newTool())[0]
}

// What a caller keeps is bounded, ended or not; what another has is left to it; and all of it
// is given back when it expires.
func TestKeptTasksOfACallerAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{Tasks: 8, TasksPerCaller: 4})
		r := rule(func(r *Rule) { r.TTL = time.Minute })
		for range 4 {
			if _, refused := b.tries(t, from("one", r, "call result")); refused != "" {
				t.Fatalf("refused: %s", refused)
			}
		}
		if _, refused := b.tries(t, from("one", r, "call result")); refused != "caller_kept_tasks" {
			t.Errorf("a fifth task: got %q", refused)
		}
		if _, refused := b.tries(t, from("two", r, "call result")); refused != "" {
			t.Errorf("another caller is refused: %s", refused)
		}
		time.Sleep(time.Minute + ledger.Spare)
		if _, refused := b.tries(t, from("one", r, "call result")); refused != "" {
			t.Errorf("refused when all have expired: %s", refused)
		}
		if now := b.ledger.Quota.Total(); now.Tasks != 1 {
			t.Errorf("%d tasks are counted, want 1", now.Tasks)
		}
	})
}

// Whoever comes when others have filled all gets an even share.
func TestWhoKeepsLittleIsNotRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{Tasks: 16, TasksPerCaller: 8})
		made := map[string]int{}
		for _, caller := range []string{"one", "two", "three", "four"} {
			for range 20 {
				if _, refused := b.tries(t, from(caller, rule(nil), "call result")); refused == "" {
					made[caller]++
				}
			}
		}
		for caller, want := range map[string]int{"one": 8, "two": 8, "three": 5, "four": 3} {
			if made[caller] != want {
				t.Errorf("%s made %d tasks, want %d", caller, made[caller], want)
			}
		}
	})
}

func TestKeptBytesOfACallerAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{Bytes: 800 * kib, BytesPerCaller: 400 * kib})
		large := strings.Repeat("a", 90*kib)
		first, _ := b.tries(t, from("one", rule(nil), "call hang "+large))
		for range 2 {
			if _, refused := b.tries(t, from("one", rule(nil), "call hang "+large)); refused != "" {
				t.Fatalf("refused: %s", refused)
			}
		}
		if _, refused := b.tries(t, from("one", rule(nil), "call hang "+large)); refused != "caller_kept" {
			t.Errorf("a fourth call: got %q, want that its caller keeps too much", refused)
		}
		if _, refused := b.tries(t, from("two", rule(nil), "call hang "+large)); refused != "" {
			t.Errorf("another caller is refused: %s", refused)
		}
		who := Asker{Pool: poolName}
		if _, err := b.Steps.Cancel(t.Context(), first, who); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, refused := b.tries(t, from("one", rule(nil), "call hang "+large)); refused != "" {
			t.Errorf("refused though the arguments of one have gone: %s", refused)
		}
	})
}

// An outcome that finds no room fails its own task, and those before it stay.
func TestOutcomeWithoutRoomFailsItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{Bytes: 200 * kib, BytesPerCaller: 100 * kib})
		r, who := rule(nil), Asker{Pool: poolName}
		see := func(id string) View {
			v, err := b.Reader.Get(t.Context(), id, who)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		var ids []string
		for range 4 {
			id, refused := b.tries(t, from("one", r, "call big:30/1s"))
			if refused != "" {
				t.Fatal(refused)
			}
			ids = append(ids, id)
			time.Sleep(10 * time.Millisecond)
		}
		other, _ := b.tries(t, from("two", r, "call big:30/2s"))
		time.Sleep(3 * time.Second)
		for _, id := range append(ids[:3:3], other) {
			if v := see(id); v.State != Completed || len(v.Outcome) < 30*kib {
				t.Errorf("%s: %d bytes", v.State, len(v.Outcome))
			}
		}
		f := see(ids[3]).failure(t)
		if f.Data.Reason != "too_much_kept" || f.Data.MayHaveExecuted == nil || !*f.Data.MayHaveExecuted {
			t.Errorf("got %+v, want too_much_kept, and that the tool has run", f)
		}
		if _, refused := b.tries(t, from("one", r, "call result")); refused != "caller_kept" {
			t.Errorf("a call after that: got %q", refused)
		}
	})
}

// What a file keeps counts again for the process that opens it next.
func TestKeptTasksOfAFileAreCountedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, "file:"+filepath.Join(t.TempDir(), "berth.db"), storage.Options{})
		defer store.Close()
		s := settings{at: newCell(store), keys: givenKeys(t)}
		b := bounding(t, s, Bounds{})
		for i := range 5 {
			b.tries(t, from(fmt.Sprint("caller ", i%2), rule(nil), "call big:30"))
		}
		before := b.ledger.Quota.Total()
		b.Drain(t.Context())
		b.kill()
		next := newBerth(s, b.tool)
		if err := next.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		after := next.ledger.Quota.Total()
		if after.Tasks != 5 || after.Bytes < before.Bytes-kib || after.Bytes > before.Bytes+kib {
			t.Errorf("counted %+v, want %+v", after, before)
		}
	})
}

// What another berth goes on with is that one's to count.
func TestTaskCountsWhereItIsGoneOnWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		berths := startBerths(t, 2, settings{}, newTool())
		time.Sleep(2 * testLease)
		id := berths[0].hand(t, rule(nil), "call ask:k result")
		synctest.Wait()
		if n := berths[0].ledger.Quota.Total().Tasks; n != 1 {
			t.Fatalf("the berth that made the task counts %d", n)
		}
		if err := berths[1].Steps.Update(context.Background(), id, somebody, inputs("k", "1"), &Envelope{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if first, second := berths[0].ledger.Quota.Total().Tasks, berths[1].ledger.Quota.Total().Tasks; first != 0 || second != 1 {
			t.Errorf("counted %d and %d, want 0 and 1", first, second)
		}
	})
}

// A task that nobody was told of keeps nothing.
func TestDiscardedTaskKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{})
		h, err := b.Maker.Create(t.Context(), from("one", rule(nil), "call result"))
		if err != nil {
			t.Fatal(err)
		}
		h.Discard()
		synctest.Wait()
		if now := b.ledger.Quota.Total(); now != (quota.Usage{}) {
			t.Errorf("counted %+v, want nothing", now)
		}
	})
}

// One caller has half of the calls that a process may hold: one address took all of them.
func TestOneCallerHasHalfOfTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bounding(t, settings{}, Bounds{})
		r := rule(func(r *Rule) { r.LivePerProcess = 4 })
		for range 2 {
			if _, refused := b.tries(t, from("one", r, "call result/1m")); refused != "" {
				t.Fatal(refused)
			}
		}
		if _, refused := b.tries(t, from("one", r, "call result")); refused != "live_per_caller" {
			t.Errorf("a third call: got %q", refused)
		}
		if _, refused := b.tries(t, from("two", r, "call hang")); refused != "" {
			t.Errorf("another caller is refused: %s", refused)
		}
		time.Sleep(time.Minute + time.Second)
		if _, refused := b.tries(t, from("one", r, "call hang")); refused != "" {
			t.Errorf("refused when its calls are over: %s", refused)
		}
	})
}
