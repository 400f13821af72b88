package drain_test

import (
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/drain"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/storage/storagetest"
	"berth/routing"
	"berth/sticky"
)

// heeder is a berth that looks for marks when it is told to, with a pool of these upstreams.
func heeder(store *storage.Store, name string, names ...string) *berth {
	b := &berth{bindings: sticky.New(store, sticky.Options{}), pool: routing.NewPool(routing.PoolOptions{Name: "p"})}
	b.Watch = drain.New(drain.Options{
		Name: name, Store: store, Bindings: b.bindings, IDs: drain.NewIDs(seal.NewStoredKeyring(store)),
		Pools: func() []*routing.Pool { return []*routing.Pool{b.pool} },
	})
	b.has(names...)
	return b
}

// has has the pool be of these.
func (b *berth) has(names ...string) {
	var all []*routing.Upstream
	for _, name := range names {
		all = append(all, &routing.Upstream{Name: name, URL: &url.URL{Scheme: "http", Host: name}})
	}
	b.pool.Replace(all)
}

// orders has each of these drain, and then one of them no more.
func (b *berth) orders(t *testing.T, drains ...string) {
	t.Helper()
	for _, name := range drains {
		if _, err := b.Set(t.Context(), "p", name, routing.Drain{Since: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Set(t.Context(), "p", drains[0], routing.Drain{}); err != nil {
		t.Fatal(err)
	}
}

// drains fails the test unless this upstream, which joins the pool with b, drains or not.
func (b *berth) drains(t *testing.T, name string, want bool) {
	t.Helper()
	b.has("b", name)
	if err := b.Heed(t.Context(), []*routing.Pool{b.pool}); err != nil {
		t.Fatal(err)
	}
	if got := b.pool.Find(name).Drain().Set(); got != want {
		t.Errorf("%s drains: %v, want %v", name, got, want)
	}
}

// A mark outlives its upstream's absence, and goes with one that no berth has seen for a month.
func TestAMarkGoesWithAnUpstreamThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const month = 30 * 24 * time.Hour
		store := storagetest.OpenMemory(t)
		one, two := heeder(store, "one", "a", "b", "c"), heeder(store, "two", "b", "c")
		one.orders(t, "b", "a", "c")
		one.has("b")
		one.orders(t, "b")
		time.Sleep(month - time.Minute)
		one.orders(t, "b") // a and c are absent, for not long enough
		two.has("b", "c")
		if err := two.Heed(t.Context(), []*routing.Pool{two.pool}); err != nil { // and c is at another berth
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		one.drains(t, "a", true)
		one.has("b")
		one.orders(t, "b")
		time.Sleep(month)
		two.has("b")
		two.orders(t, "b")
		one.drains(t, "a", false)
		one.drains(t, "c", false)
		one.orders(t, "c", "b")
		one.drains(t, "c", false)
	})
}

// What another berth has is not absent.
func TestAMarkStaysWhileAnyBerthHasItsUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one, two := heeder(store, "one", "b"), heeder(store, "two", "a", "b")
		two.orders(t, "b", "a")
		for range 4 {
			one.orders(t, "b")
			if err := two.Heed(t.Context(), []*routing.Pool{two.pool}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * 24 * time.Hour)
		}
		two.drains(t, "a", true)
	})
}
