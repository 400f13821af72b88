package bulletin_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/api"
	"berth/internal/bulletin"
	"berth/internal/storage"
	"berth/internal/storage/storagetest"
)

// start starts a berth's board; it ends with the test, or with end, which takes its leave, or with kill.
func start(t *testing.T, store *storage.Store, name string) (b *bulletin.Board, end, kill func()) {
	t.Helper()
	b = bulletin.New(bulletin.Options{Store: store, Name: name, Own: func() api.Berth {
		return api.Berth{Host: "host:" + name, Version: "1", State: bulletin.Serving, Ready: true, Held: 3, Sees: []api.Sight{{Pool: "p", Upstream: "a", State: "ok"}}}
	}})
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = b.Run(ctx)
	}()
	end = func() {
		cancel()
		<-over
	}
	t.Cleanup(end)
	synctest.Wait()
	return b, end, func() {
		end()
		_ = store.Put(context.Background(), "berth:"+name, []byte(`{"host":"host:`+name+`","version":"1","state":"serving","ready":true}`), 15*time.Minute)
	}
}

// states are those of all berths that b knows, by name, and the name of the first.
func states(t *testing.T, b *bulletin.Board) (states map[string]string, first string) {
	t.Helper()
	all, err := b.All(t.Context())
	if err != nil {
		t.Fatalf("All: %v", err)
	}
	states = map[string]string{}
	for _, one := range all {
		states[one.Name] = one.State
	}
	return states, all[0].Name
}

func TestBerthsAreToldOfAsServingDeadAndGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		_, leave, _ := start(t, store, "a")
		_, _, kill := start(t, store, "b")
		c, _, _ := start(t, store, "c")
		if got, first := states(t, c); got["a"] != bulletin.Serving || got["b"] != bulletin.Serving || len(got) != 3 || first != "c" {
			t.Fatalf("at first %v, %q first; want all serving, and c first", got, first)
		}
		kill()
		leave()
		time.Sleep(20 * time.Second)
		got, _ := states(t, c)
		if got["a"] != bulletin.Gone || got["b"] != bulletin.Dead || got["c"] != bulletin.Serving {
			t.Errorf("once one left and one died: %v", got)
		}
		all, _ := c.All(t.Context())
		for _, one := range all {
			if alive := one.Name == "c"; (one.Lease > 0) != alive || one.Ready != alive {
				t.Errorf("%s: lease %v, ready %v", one.Name, one.Lease, one.Ready)
			}
			if age := time.Since(one.Told); one.Name != "c" && (age < 19*time.Second || age > 21*time.Second) {
				t.Errorf("%s was heard of %v ago, want 20 s", one.Name, age)
			}
		}
		time.Sleep(15 * time.Minute)
		if got, _ := states(t, c); len(got) != 1 {
			t.Errorf("after a quarter of an hour %v, want c alone", got)
		}
	})
}

// startOneDead starts a, b and c, kills c, and returns b.
func startOneDead(t *testing.T, store *storage.Store) *bulletin.Board {
	t.Helper()
	start(t, store, "a")
	b, _, _ := start(t, store, "b")
	_, _, kill := start(t, store, "c")
	kill()
	return b
}

// Nobody can say anything while the store is away: that is nobody's death.
func TestAnOutageOfTheStoreIsNobodysDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		b := startOneDead(t, store)
		time.Sleep(20 * time.Second)
		if got, _ := states(t, b); got["a"] != bulletin.Serving || got["c"] != bulletin.Dead {
			t.Fatalf("before the outage: %v", got)
		}
		store.Close()
		time.Sleep(time.Minute)
		all, err := b.All(t.Context())
		if err == nil {
			t.Error("no error while the store is away")
		}
		at := slices.IndexFunc(all, func(one api.Berth) bool { return one.Name == "a" })
		if at < 0 || all[at].State != bulletin.Serving || all[at].Lease != 0 || len(all[at].Sees) != 1 {
			t.Errorf("got %+v, want a as it was heard of last", all)
		}
		if at := slices.IndexFunc(all, func(one api.Berth) bool { return one.Name == "c" }); at < 0 || all[at].State != bulletin.Dead {
			t.Errorf("got %+v, want c dead as before", all)
		}
	})
}

// One that died is told of as dead though its last word, by the store's clock, which went back, is new for as long.
func TestADeadBerthIsToldOfThoughTheStoresClockWentBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		b := startOneDead(t, store)
		time.Sleep(time.Second)
		if err := store.KeepMembers(t.Context(), "berths", storage.Member{Name: "c", Left: time.Hour}); err != nil {
			t.Fatal(err)
		}
		if got, _ := states(t, b); got["c"] != bulletin.Serving {
			t.Errorf("at first: %v", got)
		}
		for range 3 {
			time.Sleep(20 * time.Second)
			if got, _ := states(t, b); got["a"] != bulletin.Serving || got["c"] != bulletin.Dead {
				t.Errorf("later: %v", got)
			}
		}
	})
}
