package drain_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/drain"
	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/storage/storagetest"
	"berth/routing"
	"berth/sticky"
)

// berth is one berth of several on a store, with a pool of two upstreams.
type berth struct {
	*drain.Watch
	pool     *routing.Pool
	bindings *sticky.Bindings
	end      func()
}

// start starts a berth. Its end is the end of the test, or its own.
func start(t *testing.T, store *storage.Store, name string) *berth {
	t.Helper()
	var upstreams []*routing.Upstream
	for _, name := range []string{"a", "b"} {
		upstreams = append(upstreams, &routing.Upstream{Name: name, URL: &url.URL{Scheme: "http", Host: name}})
	}
	ids := drain.NewIDs(seal.NewStoredKeyring(store))
	b := &berth{pool: routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: upstreams})}
	b.bindings = sticky.New(store, sticky.Options{Hide: ids.Hide})
	b.Watch = drain.New(drain.Options{
		Name: name, Store: store, Bindings: b.bindings, IDs: ids,
		Pools: func() []*routing.Pool { return []*routing.Pool{b.pool} }, Reinit: func(string) bool { return true },
	})
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		go b.bindings.Run(ctx)
		_ = b.Run(ctx)
	}()
	b.end = func() {
		cancel()
		<-over
	}
	t.Cleanup(b.end)
	return b
}

// pass lets time go by.
func pass(d time.Duration) {
	time.Sleep(d) // of the bubble
	synctest.Wait()
}

func (b *berth) drain(t *testing.T, move bool) {
	t.Helper()
	if _, err := b.Set(t.Context(), "p", "a", routing.Drain{Since: time.Now(), MoveSessions: move}); err != nil {
		t.Fatal(err)
	}
}

func (b *berth) status(t *testing.T) drain.Status {
	t.Helper()
	s, err := b.Of(t.Context(), "p", "a", 10)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (b *berth) bind(t *testing.T, kind sticky.Kind, id string, binding sticky.Binding) {
	t.Helper()
	binding.Upstream = "a"
	if err := b.bindings.Bind(t.Context(), sticky.Key{Kind: kind, Pool: "p", ID: id}, binding, time.Hour); err != nil {
		t.Fatal(err)
	}
}

// takesWork reports whether new work goes to a.
func (b *berth) takesWork(t *testing.T) bool {
	t.Helper()
	for range 50 {
		lease, err := b.pool.Pick(routing.Work{Era: mcp.EraModern}, nil)
		if err != nil {
			t.Fatal(err)
		}
		lease.Release()
		if lease.Upstream.Name == "a" {
			return true
		}
	}
	return false
}

// A mark keeps new work away at every berth, those that begin later too, until it is taken off.
func TestAMarkIsEveryBerthsAndOutlivesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one, two := start(t, store, "one"), start(t, store, "two")
		pass(time.Second)
		one.drain(t, false)
		if one.takesWork(t) {
			t.Error("the berth that was told gives it new work")
		}
		pass(drain.HeardWithin)
		if two.takesWork(t) {
			t.Error("the other berth gives it new work")
		}
		since := one.status(t).Since
		pass(time.Minute)
		two.drain(t, true) // once more: it is the same mark, with more to it
		pass(drain.HeardWithin)
		if got := one.status(t); !got.Since.Equal(since) || got.By != "operator" {
			t.Errorf("drained twice: since %v by %q, want since %v by the operator", got.Since, got.By, since)
		}
		one.end()
		two.end()
		three := start(t, store, "three")
		if err := three.Heed(t.Context(), []*routing.Pool{three.pool}); err != nil || three.takesWork(t) {
			t.Errorf("a berth that begins: %v, gives it new work: %v", err, three.takesWork(t))
		}
		if _, err := three.Set(t.Context(), "p", "a", routing.Drain{}); err != nil || !three.takesWork(t) {
			t.Errorf("undrained: %v, takes work: %v", err, three.takesWork(t))
		}
		if _, err := three.Set(t.Context(), "p", "nobody", routing.Drain{Since: time.Now()}); !errors.Is(err, drain.ErrUnknown) {
			t.Errorf("drain of nobody: %v, want ErrUnknown", err)
		}
		if _, err := three.Set(t.Context(), "p", "nobody", routing.Drain{}); !errors.Is(err, drain.ErrUnknown) {
			t.Errorf("undrain of nobody: %v, want ErrUnknown", err)
		}
	})
}

// It is drained once each berth says that it heeds the mark and has nothing there, and nothing is owned.
func TestDrainedIsWhatCostsNobodyAnything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one, two := start(t, store, "one"), start(t, store, "two")
		pass(time.Second)
		if one.status(t).Drained {
			t.Error("drained before anybody said so")
		}
		request, stream, held := two.pool.Own(two.pool.Find("a")), two.pool.Own(two.pool.Find("a")), two.pool.Own(two.pool.Find("a"))
		stream.Stand()
		held.Hold()
		two.pool.Find("a").Wait()
		two.bind(t, sticky.Task, "t-1", sticky.Binding{Tool: "dig", Principal: "alice", Status: "working"})
		one.drain(t, false)
		pass(drain.HeardWithin + 2*time.Second)
		got := one.status(t)
		if want := (drain.Counts{Tasks: 1, Streams: 1, Requests: 1, Held: 2}); got.Left != want || got.Drained || got.Heeding != 2 {
			t.Errorf("got %+v, drained %v, heeded by %d; want %+v by 2", got.Left, got.Drained, got.Heeding, want)
		}
		if len(got.Items) != 1 || got.Items[0].ID != "t-1" || got.Items[0].Tool != "dig" || got.Items[0].Kind != "task" {
			t.Errorf("items: %+v", got.Items)
		}
		if left := time.Until(got.LostAfter); left > time.Hour || left < 50*time.Minute {
			t.Errorf("nothing is owned in %v, want an hour", left)
		}
		for _, end := range []func(){request.Release, stream.Release, held.Release, two.pool.Find("a").WaitOver,
			func() { two.bindings.Unbind(t.Context(), sticky.Key{Kind: sticky.Task, Pool: "p", ID: "t-1"}) }} {
			if got := one.status(t); got.Drained {
				t.Errorf("drained with %+v left", got.Left)
			}
			end()
			pass(2 * time.Second)
		}
		if got := one.status(t); !got.Drained || !two.status(t).Drained {
			t.Errorf("not drained: %+v", got)
		}
	})
}

// A berth that has not said that it heeds the mark may be giving new work: nothing is drained before.
func TestABerthThatHasNotHeardCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one := start(t, store, "one")
		start(t, store, "two")
		pass(10 * time.Second)
		one.drain(t, false)
		if got := one.status(t); got.Drained || got.Heeding == 2 {
			t.Errorf("at once: %+v", got)
		}
		pass(5 * time.Second)
		if got := one.status(t); !got.Drained {
			t.Errorf("once it has said so: %+v", got)
		}
	})
}

// kill ends a berth that does not say so: its last report stands for so long.
func (b *berth) kill(t *testing.T, store *storage.Store, stands time.Duration) {
	t.Helper()
	const key = "drain:berth:two"
	report, err := store.Get(t.Context(), key)
	b.end()
	if err == nil {
		err = store.Put(t.Context(), key, report.Value, stands)
	}
	if err == nil {
		err = store.KeepMembers(t.Context(), "drain:berths", storage.Member{Name: "two", Left: stands})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A call that is left to another berth counts all the while until that counts it, be the one that left it there still or not.
func TestACallThatIsLeftCountsUntilOthersCountIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one, two := start(t, store, "one"), start(t, store, "two")
		one.drain(t, false)
		held := two.pool.Own(two.pool.Find("a"))
		held.Hold()
		pass(5 * time.Second)
		two.pool.Find("a").Leave()
		held.Release()
		for i := range 30 {
			for at, b := range []*berth{one, two} {
				if got := b.status(t); got.Drained || got.Left.Held == 0 || got.Berths != 2 {
					t.Fatalf("%d ms after, at %d: %+v", i*100, at, got)
				}
			}
			pass(100 * time.Millisecond)
		}
		two.end()
		pass(25 * time.Second)
		if got := one.status(t); got.Drained || got.Left.Held != 1 || got.Berths != 1 || got.Heeding != 1 {
			t.Errorf("after the end of who left it: %+v", got)
		}
		if got, err := one.Of(t.Context(), "p", "b", 0); err != nil || got.Berths != 1 || got.Heeding != 0 {
			t.Errorf("of another upstream: %+v, %v", got, err)
		}
		pass(10 * time.Second)
		if got := one.status(t); !got.Drained {
			t.Errorf("in the end: %+v", got)
		}
	})
}

// A berth that ends in good order and has left nothing is in nobody's way from then on, whatever it had under way a moment before.
func TestABerthThatHasLeftNothingCountsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one, two := start(t, store, "one"), start(t, store, "two")
		held := two.pool.Own(two.pool.Find("a"))
		held.Hold()
		pass(6 * time.Second)
		held.Release()
		two.end()
		one.drain(t, false)
		pass(3 * time.Second)
		if got := one.status(t); !got.Drained || got.Berths != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

// What a berth that died had under way counts for a while: whoever goes on with it has it by then.
func TestADeadBerthsCallsCountForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one, two := start(t, store, "one"), start(t, store, "two")
		one.drain(t, false)
		held := two.pool.Own(two.pool.Find("a"))
		held.Hold()
		pass(5 * time.Second)
		two.kill(t, store, 30*time.Second)
		pass(10 * time.Second)
		if got := one.status(t); got.Drained || got.Left.Held != 1 {
			t.Errorf("just after: %+v, want its call", got)
		}
		pass(30 * time.Second)
		if got := one.status(t); !got.Drained || got.Berths != 1 {
			t.Errorf("in the end: %+v", got)
		}
	})
}

// Nor does one count for ever that died, and whose report stands since the store's clock went back.
func TestADeadBerthsReportCountsForItsLifeThoughItStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one, two := start(t, store, "one"), start(t, store, "two")
		held := two.pool.Own(two.pool.Find("a"))
		held.Hold()
		pass(10 * time.Second)
		two.kill(t, store, time.Hour)
		one.drain(t, false)
		pass(25 * time.Second)
		if got := one.status(t); got.Drained || got.Berths != 2 {
			t.Errorf("within its life: %+v", got)
		}
		pass(15 * time.Second)
		if got := one.status(t); !got.Drained || got.Berths != 1 {
			t.Errorf("in the end: %+v", got)
		}
	})
}

// Sessions that can be opened elsewhere are in nobody's way where they move, and only there.
func TestMovableSessionsAreInNobodysWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one := start(t, store, "one")
		one.bind(t, sticky.Session, "kept", sticky.Binding{Kept: time.Now().Add(time.Hour), Session: "digest"})
		one.drain(t, false)
		pass(5 * time.Second)
		if got := one.status(t); got.Drained || got.Left.Sessions != 1 || len(got.Items) != 1 || got.Items[0].ID != "digest" {
			t.Errorf("where sessions stay: %+v", got)
		}
		one.drain(t, true)
		pass(5 * time.Second)
		if got := one.status(t); !got.Drained || got.Movable != 1 || !got.LostAfter.IsZero() {
			t.Errorf("where they move: %+v", got)
		}
		one.bind(t, sticky.Session, "not kept", sticky.Binding{})
		if got := one.status(t); got.Drained || got.Left.Sessions != 1 || got.Movable != 1 {
			t.Errorf("one that cannot: %+v", got)
		}
	})
}

// Sessions cannot move where nobody else takes them.
func TestSessionsOfTheLastUpstreamStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := start(t, storagetest.OpenMemory(t), "one")
		one.bind(t, sticky.Session, "kept", sticky.Binding{Kept: time.Now().Add(time.Hour)})
		one.drain(t, true)
		if _, err := one.Set(t.Context(), "p", "b", routing.Drain{Since: time.Now()}); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		if got := one.status(t); got.Drained || got.Left.Sessions != 1 || got.Movable != 0 {
			t.Errorf("all drain: %+v", got)
		}
		if _, err := one.Set(t.Context(), "p", "b", routing.Drain{}); err != nil {
			t.Fatal(err)
		}
		if got := one.status(t); !got.Drained || got.Movable != 1 {
			t.Errorf("another takes work again: %+v", got)
		}
	})
}

// A store that was emptied says that nothing is owned, and does not know.
func TestAStoreThatLostTheMarkLeavesNothingDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one := start(t, store, "one")
		one.drain(t, false)
		pass(5 * time.Second)
		if got := one.status(t); !got.Drained {
			t.Fatalf("before: %+v", got)
		}
		if err := store.Delete(t.Context(), "drain:marks:p"); err != nil {
			t.Fatal(err)
		}
		if got := one.status(t); got.Drained {
			t.Errorf("emptied: %+v", got)
		}
		pass(drain.HeardWithin)
		if got := one.status(t); got.Draining {
			t.Errorf("once it is heard: %+v", got)
		}
	})
}

// A mark outlives its upstream, and can be taken off then.
func TestAMarkOnOneThatIsGoneIsTakenOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := start(t, storagetest.OpenMemory(t), "one")
		one.drain(t, false)
		one.pool.Replace(one.pool.Upstreams()[1:])
		if _, err := one.Set(t.Context(), "p", "a", routing.Drain{}); err != nil {
			t.Errorf("the mark: %v", err)
		}
		if _, err := one.Set(t.Context(), "p", "a", routing.Drain{}); !errors.Is(err, drain.ErrUnknown) {
			t.Errorf("none: %v, want ErrUnknown", err)
		}
	})
}

// Whoever reads the store learns no task's id.
func TestIDsAreHidden(t *testing.T) {
	store := storagetest.OpenMemory(t)
	one, other := drain.NewIDs(seal.NewStoredKeyring(store)), drain.NewIDs(seal.NewStoredKeyring(store))
	hidden := one.Hide("786512e2")
	if hidden == "" || hidden == one.Hide("786512e2") || other.Show(hidden) != "786512e2" {
		t.Errorf("hidden as %q, shown as %q", hidden, other.Show(hidden))
	}
	for _, bad := range []string{"", "x", hidden[1:], hidden + "A"} {
		if got := other.Show(bad); got != "" {
			t.Errorf("Show of %q: %q", bad, got)
		}
	}
}

// An instance that takes new work by one of its names may not stop, whichever name is asked for and whichever berth gives it some.
func TestAnInstanceThatTakesWorkByAnotherNameMayNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one, two := start(t, store, "one"), start(t, store, "two")
		former := func(b *berth, drains bool) {
			a := b.pool.Find("a")
			b.pool.Replace([]*routing.Upstream{a, b.pool.Find("b"), {Name: "former", URL: a.URL, Draining: drains}})
		}
		drained := func(name string) bool {
			t.Helper()
			s, err := one.Of(t.Context(), "p", name, 10)
			if err != nil {
				t.Fatal(err)
			}
			return s.Drained
		}
		former(one, true)
		former(two, true)
		pass(time.Minute)
		if drained("former") {
			t.Error("what takes new work by its newest name may stop by the former one")
		}
		one.drain(t, false)
		pass(time.Minute)
		if !drained("a") || !drained("former") {
			t.Error("what is given no work by any name may not stop")
		}
		former(two, false)
		pass(time.Minute)
		if drained("a") || drained("former") {
			t.Error("what another berth gives work by the former name may stop")
		}
	})
}

// What goes on at an instance is known at each berth, wherever it does: calls that wait for their client with nothing in flight, too.
func TestWhatIsUnderWayIsKnownAtEachBerth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one, two := start(t, store, "one"), start(t, store, "two")
		pass(10 * time.Second)
		if n := one.UnderWay("p", "a"); n != 0 {
			t.Errorf("got %d with nothing under way", n)
		}
		waits := two.pool.Find("a")
		waits.Wait()
		lease := one.pool.Own(one.pool.Find("a"))
		pass(10 * time.Second)
		for _, b := range []*berth{one, two} {
			if n, other := b.UnderWay("p", "a"), b.UnderWay("p", "b"); n != 2 || other != 0 {
				t.Errorf("got %d, and %d at another, want 2 and none", n, other)
			}
		}
		waits.WaitOver()
		lease.Release()
		pass(10 * time.Second)
		if n := one.UnderWay("p", "a"); n != 0 {
			t.Errorf("got %d once it is over", n)
		}
	})
}

// Whoever stops an instance stops it for all the names that it has had: a drain by the newest tells what it owns by the others.
func TestWhatAnInstanceOwnsByAFormerNameIsLeftThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := start(t, storagetest.OpenMemory(t), "one")
		a, b := one.pool.Find("a"), one.pool.Find("b")
		former := *a.URL
		former.Host = strings.ToUpper(former.Host) // it was spelt otherwise
		one.pool.Replace([]*routing.Upstream{a, b, {Name: "former", URL: &former, Draining: true}})
		key := sticky.Key{Kind: sticky.Task, Pool: "p", ID: "t"}
		if err := one.bindings.Bind(t.Context(), key, sticky.Binding{Upstream: "former"}, time.Hour); err != nil {
			t.Fatal(err)
		}
		one.bind(t, sticky.Task, "u", sticky.Binding{})
		one.drain(t, false)
		pass(time.Minute)
		if s := one.status(t); s.Drained || s.Left.Tasks != 2 || len(s.Items) != 2 || s.More != 0 || !s.LostAfter.After(time.Now()) {
			t.Errorf("got %+v, want both tasks", s)
		}
		all, err := one.All(t.Context())
		if err != nil || all[0].Left.Tasks != 2 || all[1].Left.Tasks != 0 || all[2].Left.Tasks != 2 {
			t.Errorf("got %+v, %v", all, err)
		}
		pass(2 * time.Hour)
		if s := one.status(t); !s.Drained {
			t.Errorf("once both are forgotten: got %+v", s)
		}
	})
}
