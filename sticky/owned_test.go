package sticky

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/sticky/binding"
	"berth/sticky/roll"
)

// counts fails the test if an upstream owns more or less.
func (b *berth) counts(t *testing.T, upstream string, tasks, sessions int) {
	t.Helper()
	got, err := b.Owned(t.Context(), "p", upstream)
	if err != nil || got.Tasks != tasks || got.Sessions != sessions {
		t.Errorf("%s owns %+v, %v; want %d tasks and %d sessions", upstream, got, err, tasks, sessions)
	}
}

// given tells that a task has completed, and that its client was given the result.
func given() Seen {
	return Seen{At: time.Now(), Status: "completed", Ended: true, Given: true, TTL: time.Hour}
}

// isEven reports whether the store has all that it is to have.
func (b *berth) isEven() bool { return b.local.pending.len() == 0 && b.rolls.owing.count.Load() == 0 }

// What is bound counts at every berth once Bind has returned: whoever dies then has left nothing out.
func TestWhatIsBoundCountsAtOnceAndEverywhere(t *testing.T) {
	const each = 40
	server := redistest.Start(t)
	one, two := newBerth(t, server.URL(), Options{Near: 1000}, 0), newBerth(t, server.URL(), Options{}, 0)
	var binding sync.WaitGroup
	for i := range each {
		for _, upstream := range []string{"a", "b"} {
			binding.Go(func() {
				one.mustBind(t, task(fmt.Sprint(upstream, i)), upstream, time.Hour)
				one.mustBind(t, session(fmt.Sprint(upstream, i)), upstream, 0)
			})
		}
	}
	binding.Wait()
	two.counts(t, "a", each, each)
	two.counts(t, "b", each, each)
	two.mustBind(t, task("a1"), "a", time.Hour) // it is its own already
	if err := two.Bind(t.Context(), task("a2"), Binding{Upstream: "b"}, time.Hour); err != ErrOwned {
		t.Errorf("Bind of another's: %v, want ErrOwned", err)
	}
	one.counts(t, "a", each, each)
	one.counts(t, "b", each, each)
	one.Unbind(t.Context(), task("a3"))
	one.Unbind(t.Context(), session("b3"))
	two.counts(t, "a", each-1, each)
	two.counts(t, "b", each, each-1)
	if left, all, err := two.Left(t.Context(), Task, "p", "a", 5); err != nil || len(left) != 5 || all != each-1 {
		t.Errorf("Left: got %d of %d, %v; want 5 of %d", len(left), all, err, each-1)
	}
}

// A task counts until its result was given out, or two minutes after its end was told; at most for
// its ttl, whatever was asked of it.
func TestATaskCountsUntilItsResultIsGivenOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{})
		for _, id := range []string{"given", "ended", "cut", "polled", "endless"} {
			ttl := time.Hour
			if id == "endless" {
				ttl = 0
			}
			b.mustBind(t, task(id), "a", ttl)
		}
		see := func(id string, seen Seen) {
			b.Observe(task(id), new(b.owns(t, "a", task(id), SourceBound)), seen)
			pass(0)
		}
		for range 3 {
			see("polled", Seen{At: time.Now(), Status: "working", TTL: time.Hour})
		}
		b.counts(t, "a", 5, 0)
		see("given", given())
		b.counts(t, "a", 4, 0)
		see("given", Seen{At: time.Now(), Status: "completed", Ended: true, TTL: time.Hour}) // nobody owes it twice
		b.counts(t, "a", 4, 0)
		see("ended", Seen{At: time.Now(), Status: "completed", Ended: true, TTL: time.Hour})
		b.counts(t, "a", 4, 0)
		pass(collectWithin + time.Second)
		b.counts(t, "a", 3, 0)
		pass(30 * time.Minute)
		see("polled", Seen{At: time.Now(), Status: "working", TTL: time.Hour}) // ttl counts from the creation
		pass(29 * time.Minute)
		b.counts(t, "a", 1, 0)
		if got, _ := b.Owned(t.Context(), "p", "a"); time.Until(got.TasksUntil) < 100*time.Hour {
			t.Errorf("the endless one may be forgotten in %v", time.Until(got.TasksUntil))
		}
		see("endless", Seen{At: time.Now(), Status: "working", TTL: 10 * time.Hour}) // by now it says
		if got, _ := b.Owned(t.Context(), "p", "a"); time.Until(got.TasksUntil) > 10*time.Hour {
			t.Errorf("what says how long it lives may be forgotten in %v", time.Until(got.TasksUntil))
		}
	})
}

// A session counts while it is used, at the cost of a write now and then, and where it is.
func TestASessionCountsWhereItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle = time.Hour
		b := inMemory(t, Options{SessionIdle: idle})
		key := session("1")
		b.mustBind(t, key, "a", 0)
		for range 30 {
			pass(idle / 10)
			b.Touch(key, b.owns(t, "a", key, SourceBound))
			b.counts(t, "a", 0, 1)
		}
		if _, err := b.Move(t.Context(), key, b.owns(t, "a", key, SourceBound), Binding{Upstream: "b"}); err != nil {
			t.Fatal(err)
		}
		b.counts(t, "a", 0, 0)
		b.counts(t, "b", 0, 1)
		if _, err := b.Move(t.Context(), key, Binding{Upstream: "c"}, Binding{Upstream: "d"}); err != ErrMoved {
			t.Errorf("a move from where it is not: %v, want ErrMoved", err)
		}
		b.counts(t, "d", 0, 0)
		pass(idle + idle/sessionSlack + time.Minute)
		b.counts(t, "b", 0, 0)
	})
}

// What the store does not take into the list is owed, told of, and made good.
func TestWhatCouldNotBeListedIsOwed(t *testing.T) {
	server := redistest.Start(t)
	b := onRedis(t, server)
	list := "berth:" + roll.Key{Kind: Task, Pool: "p", Upstream: "a"}.List()
	server.Do("SET", list, "no list")
	b.mustBind(t, task("1"), "a", time.Hour)
	if got := b.Unlisted("p", "a"); got != 1 {
		t.Errorf("Unlisted: got %d, want 1", got)
	}
	server.Do("DEL", list)
	realtest.Eventually(t, "it is listed", func() bool { return b.Unlisted("p", "a") == 0 })
	b.counts(t, "a", 1, 0)

	server.Kill()
	b.mustBind(t, task("2"), "a", time.Hour)
	if got := b.Unlisted("p", "a"); got != 1 {
		t.Errorf("bound without a store: Unlisted is %d, want 1", got)
	}
	server.Restart()
	realtest.Eventually(t, "it is written back", func() bool { return b.Unlisted("p", "a") == 0 })
	got, err := b.Owned(t.Context(), "p", "a")
	if err != nil || got.Tasks < 1 { // the one before is lost with the server
		t.Errorf("after the outage: got %+v, %v", got, err)
	}
}

// That a task counts no more is told once: with the store away then it is written when that is back.
func TestWhatCountsNoMoreIsOwed(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	keys := make([]Key, 20)
	for i := range keys {
		keys[i] = task(fmt.Sprint(i))
		one.mustBind(t, keys[i], "a", time.Hour)
	}
	server.Stop()
	for _, key := range keys {
		one.Observe(key, new(one.owns(t, "a", key, SourceLRU)), given())
	}
	realtest.Eventually(t, "all are owed", func() bool { return one.rolls.owing.count.Load() == int64(len(keys)) })
	if got := one.Unlisted("p", "a"); got != 0 {
		t.Errorf("Unlisted: got %d of those that are listed, want 0", got)
	}
	server.Cont()
	realtest.Eventually(t, "none counts", func() bool {
		got, err := two.Owned(t.Context(), "p", "a")
		return err == nil && got.Tasks == 0
	})
	if got := two.owns(t, "a", keys[0], SourceStore); got.Status != "completed" || got.Until != 0 {
		t.Errorf("the store has %+v", got)
	}
	realtest.Eventually(t, "nothing is pending or owed", one.isEven)
}

// A task that was asked for with the store away, and bound by that, counts no more than its record says when that is back.
func TestWhatIsWrittenBackCountsAsItsRecordSays(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	for _, id := range []string{"given", "running"} {
		two.mustBind(t, task(id), "a", time.Hour)
	}
	two.Observe(task("given"), new(two.owns(t, "a", task("given"), SourceLRU)), given())
	realtest.Eventually(t, "one counts", func() bool {
		got, err := one.Owned(t.Context(), "p", "a")
		return err == nil && got.Tasks == 1
	})
	server.Stop()
	for _, id := range []string{"given", "running"} {
		if err := one.Bind(t.Context(), task(id), asked("a"), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	server.Cont()
	realtest.Eventually(t, "nothing is pending or owed", one.isEven)
	one.counts(t, "a", 1, 0)
}

// A task that has ended has done so for good, whatever another berth has seen before and writes later.
func TestWhatCountsNoMoreStaysSo(t *testing.T) {
	server := redistest.Start(t)
	one, late := onRedis(t, server), newBerth(t, server.URL(), Options{Near: 1000}, 0) // which does not write yet
	for _, id := range []string{"read", "asked", "last"} {
		one.mustBind(t, task(id), "a", time.Hour)
	}
	working := Seen{At: time.Now(), Status: "working", TTL: 2 * time.Hour}
	late.Observe(task("read"), new(late.owns(t, "a", task("read"), SourceStore)), working)
	late.Observe(task("asked"), &Binding{Upstream: "a", Asked: true}, working)
	late.Observe(task("last"), new(late.owns(t, "a", task("last"), SourceStore)), working)
	for _, id := range []string{"read", "asked"} {
		one.Observe(task(id), new(one.owns(t, "a", task(id), SourceLRU)), given())
	}
	realtest.Eventually(t, "two have ended", func() bool {
		got, err := one.Owned(t.Context(), "p", "a")
		return err == nil && got.Tasks == 1
	})
	late.run(t)
	realtest.Eventually(t, "all is written", func() bool {
		record, err := one.Reload(t.Context(), task("last"))
		return err == nil && record.Status == "working"
	})
	for _, id := range []string{"read", "asked"} {
		if record, err := one.Reload(t.Context(), task(id)); err != nil || record.Status != "completed" || record.Until != 0 || time.Until(record.Expires) < time.Hour {
			t.Errorf("%s: the store has %+v, %v", id, record, err)
		}
	}
	one.counts(t, "a", 1, 0)
}

// A task that was made with the store away, and has ended at a berth that asked for it, has ended for the one that made it too.
func TestWhatEndsElsewhereIsNotWrittenBackAsRunning(t *testing.T) {
	server := redistest.Start(t)
	maker, other := newBerth(t, server.URL(), Options{Near: 1000}, 0), onRedis(t, server)
	made := entry{key: task("1"), binding: Binding{Upstream: "a"}}
	maker.binder.terms.complete(&made, time.Hour, time.Now())
	if _, err := maker.local.bind(made, storage.ErrUnavailable); err != nil {
		t.Fatal(err)
	}
	learned := Binding{Upstream: "a", Asked: true}
	if err := other.Bind(t.Context(), task("1"), learned, 0); err != nil {
		t.Fatal(err)
	}
	other.Observe(task("1"), new(other.owns(t, "a", task("1"), SourceStore)), given())
	realtest.Eventually(t, "it has ended there", func() bool {
		record, err := other.Reload(t.Context(), task("1"))
		return err == nil && record.Until == 0
	})
	maker.run(t)
	realtest.Eventually(t, "nothing is pending or owed", maker.isEven)
	other.counts(t, "a", 0, 0)
	if record, err := other.Reload(t.Context(), task("1")); err != nil || record.Status != "completed" || record.Until != 0 || record.Asked {
		t.Errorf("the store has %+v, %v", record, err)
	}
}

// A task whose owner was asked for, the store being away, ends as one whose binding was read.
func TestTheEndOfATaskThatWasAskedForIsWritten(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	made := Binding{Upstream: "a", Dialect: "io.modelcontextprotocol/tasks", Status: "working", Tool: "t"}
	if err := two.Bind(t.Context(), task("1"), made, time.Hour); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	learned := Binding{Upstream: "a", Dialect: made.Dialect, Asked: true}
	if err := one.Bind(t.Context(), task("1"), learned, 0); err != nil {
		t.Fatal(err)
	}
	one.Observe(task("1"), &learned, given())
	server.Cont()
	realtest.Eventually(t, "none counts", func() bool {
		got, err := two.Owned(t.Context(), "p", "a")
		return err == nil && got.Tasks == 0 && one.isEven()
	})
	record, err := two.Reload(t.Context(), task("1"))
	if err != nil || record.Status != "completed" || record.Tool != "t" || record.Asked || record.Until != 0 {
		t.Errorf("the store has %+v, %v", record, err)
	}
}

// What counts no more is not listed again by what was bound with the store away, in whichever order they are written.
func TestWhatCountsNoMoreIsNotListedAgain(t *testing.T) {
	var o owing
	e := entry{key: task("1"), binding: Binding{Upstream: "a", Until: 1}}
	ended := entry{key: e.key, binding: Binding{Upstream: "a"}, counts: countsNoMore}
	o.add(e)
	o.add(ended)
	o.paid(e) // which was read before
	o.add(e)
	if got := o.some(2); len(got) != 1 || got[0] != ended {
		t.Errorf("owed is %+v", got)
	}
	o.paid(ended)
	if got := o.count.Load(); got != 0 {
		t.Errorf("%d are owed that are paid", got)
	}
}

// What has ended while the store was away is dropped when that is back, unless it was bound anew since.
func TestWhatIsGoneIsOwed(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	for _, id := range []string{"1", "2", "again"} {
		one.mustBind(t, session(id), "a", 0)
	}
	time.Sleep(2 * time.Millisecond) // by which bindings are told apart
	server.Stop()
	for _, id := range []string{"1", "2", "again"} {
		one.Unbind(t.Context(), session(id))
	}
	one.mustBind(t, session("again"), "a", 0)
	server.Cont()
	realtest.Eventually(t, "nothing is pending or owed, nor on its way", func() bool {
		got, err := two.Owned(t.Context(), "p", "a")
		return err == nil && got.Tasks == 0 && got.Sessions == 1 && one.isEven()
	})
	time.Sleep(2 * time.Millisecond) // in which the store forgets what it was given the shortest life for
	for _, id := range []string{"1", "2"} {
		if _, _, err := two.Lookup(t.Context(), session(id)); !errors.Is(err, ErrUnknown) {
			t.Errorf("session %s: %v, want ErrUnknown", id, err)
		}
	}
	two.owns(t, "a", session("again"), SourceStore)
}

// What a list holds for no reason is struck off by who reads it, and not what is being made.
func TestWhatIsListedForNoReasonIsStruckOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{})
		b.mustBind(t, task("here"), "a", time.Hour)
		for _, e := range []entry{b.terms.entry(task("gone"), Binding{Upstream: "a"}, time.Hour), b.terms.entry(task("being made"), Binding{Upstream: "a"}, time.Hour)} {
			b.rolls.add(t.Context(), e)
		}
		left := func() int {
			_, all, err := b.Left(t.Context(), Task, "p", "a", 10)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		for range 3 {
			if got := left(); got != 3 {
				t.Errorf("at first: got %d, want 3", got)
			}
		}
		b.mustBind(t, task("being made"), "a", time.Hour)
		pass(roll.StrikeAfter)
		if got := left(); got != 2 {
			t.Errorf("later: got %d, want 2", got)
		}
		b.counts(t, "a", 2, 0)
	})
}

// A client's id that goes elsewhere, or is given up, counts nowhere else.
func TestProvisionalTasksCountWhereTheyAre(t *testing.T) {
	server := redistest.Start(t)
	b := onRedis(t, server)
	provisional := func(upstream string) Binding {
		return Binding{Upstream: upstream, Dialect: binding.Draft, Maker: "me"}
	}
	for _, id := range []string{"1", "2"} {
		if err := b.Bind(t.Context(), task(id), provisional("a"), 0); err != nil {
			t.Fatal(err)
		}
	}
	b.counts(t, "a", 2, 0)
	if err := b.RebindProvisional(t.Context(), task("1"), "a", provisional("b")); err != nil {
		t.Fatal(err)
	}
	b.ReleaseProvisional(t.Context(), task("2"), "a", "me")
	b.counts(t, "a", 0, 0)
	b.counts(t, "b", 1, 0)
	b.mustBind(t, task("1"), "c", time.Hour) // a server gives the id out
	b.counts(t, "b", 0, 0)
	b.counts(t, "c", 1, 0)
}
