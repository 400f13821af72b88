package sticky

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// Redis away, killed or frozen: creations go on, are answered for by the berth
// that made them, and shared when Redis is back.
func TestBindingsMadeWithoutRedisAreWrittenBack(t *testing.T) {
	for name, outage := range map[string]struct{ begin, end func(*redistest.Server) }{
		"down":   {(*redistest.Server).Kill, func(s *redistest.Server) { s.Restart() }},
		"frozen": {(*redistest.Server).Stop, (*redistest.Server).Cont},
	} {
		t.Run(name, func(t *testing.T) {
			server := redistest.Start(t)
			one, two := onRedis(t, server), onRedis(t, server)
			outage.begin(server)
			keys := make([]Key, 300)
			for i := range keys {
				keys[i] = task(fmt.Sprint(i))
				one.mustBind(t, keys[i], "a", time.Hour)
				one.owns(t, "a", keys[i], SourceBound)
			}
			if _, _, err := two.Lookup(t.Context(), keys[0]); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("another berth meanwhile: got %v, want ErrUnavailable", err)
			}
			if one.local.pending.len() != len(keys) || one.bound(t, outcomeLocal) != int64(len(keys)) {
				t.Errorf("pending %d, counted %d, want %d", one.local.pending.len(), one.bound(t, outcomeLocal), len(keys))
			}
			outage.end(server)
			realtest.Eventually(t, "all are written back", func() bool { return one.local.pending.len() == 0 })
			for _, key := range keys {
				realtest.Eventually(t, "the other berth finds it", func() bool { return two.finds(t, "a", key) })
				one.owns(t, "a", key, SourceLRU)
			}
			if got := one.bound(t, outcomeWrittenBack); got != int64(len(keys)) {
				t.Errorf("written back: counted %d, want %d", got, len(keys))
			}
		})
	}
}

// What another berth shared first stands against what was bound locally.
func TestOwnerInTheStoreStandsAgainstALocalOne(t *testing.T) {
	server := redistest.Start(t)
	one := newBerth(t, server.URL(), Options{Near: 10}, 0)
	server.Kill()
	one.mustBind(t, task("1"), "a", time.Hour)
	server.Restart()
	newBerth(t, server.URL(), Options{}, 0).mustBind(t, task("1"), "b", time.Hour)

	one.owns(t, "a", task("1"), SourceBound)
	one.run(t)
	realtest.Eventually(t, "the local binding is dropped", func() bool { return one.local.pending.len() == 0 })
	one.owns(t, "b", task("1"), SourceStore)
	if got := one.bound(t, outcomeCollision); got != 1 {
		t.Errorf("collisions counted: got %d, want 1", got)
	}
	if !strings.Contains(one.log.String(), "ours=a theirs=b") {
		t.Errorf("the log does not name both owners: %s", one.log.String())
	}
}

// A late answer of the upstream that lost must not bring it back into the cache.
func TestARefreshDoesNotReviveAnOwnerThatLost(t *testing.T) {
	server := redistest.Start(t)
	one := newBerth(t, server.URL(), Options{Near: 10}, 0)
	newBerth(t, server.URL(), Options{}, 0).mustBind(t, task("1"), "b", time.Hour)
	one.Observe(task("1"), new(Binding{Upstream: "a"}), Seen{At: time.Now(), Status: "working", TTL: time.Hour})
	one.run(t)
	realtest.Eventually(t, "the owner in the store is found", func() bool { return one.finds(t, "b", task("1")) })
}

// With Redis away one process still has one owner for each id, also of those that
// were bound before; a second claim changes nothing.
func TestFirstOwnerWinsWithoutRedis(t *testing.T) {
	server := redistest.Start(t)
	b := newBerth(t, server.URL(), Options{Near: 10}, 0)
	b.mustBind(t, task("before"), "a", time.Hour)
	server.Kill()
	b.mustBind(t, task("1"), "a", time.Hour)
	for _, key := range []Key{task("before"), task("1")} {
		if err := b.Bind(t.Context(), key, Binding{Upstream: "b"}, time.Hour); !errors.Is(err, ErrOwned) {
			t.Errorf("Bind %s to another upstream: got %v, want ErrOwned", key.ID, err)
		}
	}
	b.mustBind(t, task("1"), "a", time.Hour)
	b.owns(t, "a", task("before"), SourceLRU)
	b.owns(t, "a", task("1"), SourceBound)
	if b.local.pending.len() != 1 {
		t.Errorf("pending: got %d, want 1", b.local.pending.len())
	}
}

// Two claims that both found the store away race for the place in this process:
// the one that comes second must not undo the first.
func TestALostRaceLeavesTheLocalOwnerPending(t *testing.T) {
	b := newBerth(t, "memory:", Options{}, 0)
	first, second := b.terms.entry(task("1"), Binding{Upstream: "a"}, 0), b.terms.entry(task("1"), Binding{Upstream: "b"}, 0)
	if _, err := b.local.bind(first, storage.ErrUnavailable); err != nil {
		t.Fatalf("the first: %v", err)
	}
	if _, err := b.local.bind(second, storage.ErrUnavailable); !errors.Is(err, ErrOwned) {
		t.Errorf("the second: got %v, want ErrOwned", err)
	}
	b.owns(t, "a", task("1"), SourceBound)
}

// Recording holds an answer up, so it has to end by itself, though Redis is frozen
// and its caller sets no deadline; and nothing is left behind.
func TestNothingWaitsForAFrozenRedis(t *testing.T) {
	server := redistest.Start(t)
	b := newBerth(t, server.URL(), Options{Near: 100}, 0)
	b.mustBind(t, task("before"), "a", time.Hour)
	before := runtime.NumGoroutine()
	server.Stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := range 20 {
			if err := b.Bind(t.Context(), task(fmt.Sprint(i)), Binding{Upstream: "a"}, 0); err != nil {
				t.Errorf("Bind: %v", err)
			}
			if _, _, err := b.Lookup(t.Context(), task("unknown")); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("Lookup: got %v, want ErrUnavailable", err)
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(realtest.Within):
		server.Cont()
		<-ended
		t.Errorf("20 bindings and look-ups took %v", realtest.Within)
	}
	realtest.Eventually(t, "goroutines back at the baseline", func() bool { return runtime.NumGoroutine() <= before })
}

// Callers who leave while Redis is frozen leave nothing behind.
func TestCallersWhoLeaveLeaveNothingBehind(t *testing.T) {
	server := redistest.Start(t)
	b := newBerth(t, server.URL(), Options{Near: 10}, 0)
	b.mustBind(t, task("before"), "a", time.Hour)
	before := runtime.NumGoroutine()
	server.Stop()
	for i := range 100 {
		ctx, leave := context.WithCancel(t.Context())
		ask := &waiting{Context: ctx, begun: make(chan struct{})}
		go func() {
			<-ask.begun
			leave()
		}()
		if _, _, err := b.Lookup(ask, task(fmt.Sprint(i))); err == nil {
			t.Error("Lookup on a frozen Redis: got no error")
		}
		ask.Done() // what the breaker answers asks no context: the goroutine above ends all the same
		leave()
	}
	realtest.Eventually(t, "goroutines back at the baseline", func() bool { return runtime.NumGoroutine() <= before })
}

// A Redis that is full refuses writes and serves reads: creations are bound
// locally until there is room.
func TestFullRedisTakesBindingsLater(t *testing.T) {
	server := redistest.Start(t, "--maxmemory-policy", "noeviction")
	one, two := onRedis(t, server), onRedis(t, server)
	one.mustBind(t, task("before"), "a", time.Hour)
	server.Do("CONFIG", "SET", "maxmemory", "1")
	one.mustBind(t, task("1"), "a", time.Hour)
	one.owns(t, "a", task("1"), SourceBound)
	two.owns(t, "a", task("before"), SourceStore)
	two.unknown(t, task("1"))
	server.Do("CONFIG", "SET", "maxmemory", "0")
	realtest.Eventually(t, "it is written back", func() bool { return two.finds(t, "a", task("1")) })
}

// One binding that the store will not take, here because its place holds
// something else, keeps none of the others back.
func TestOneRefusalHoldsNobodyBack(t *testing.T) {
	server := redistest.Start(t)
	one, two := newBerth(t, server.URL(), Options{Near: 1000}, 0), onRedis(t, server)
	server.Kill()
	keys := make([]Key, 100)
	for i := range keys {
		keys[i] = task(fmt.Sprint(i))
		one.mustBind(t, keys[i], "a", time.Hour)
	}
	server.Restart()
	server.Do("SET", "berth:"+keys[0].Digest(), "not a record")
	one.run(t)
	realtest.Eventually(t, "all others are written back", func() bool { return one.local.pending.len() == 1 })
	for _, key := range keys[1:] {
		realtest.Eventually(t, "it is found", func() bool { return two.finds(t, "a", key) })
	}
	one.owns(t, "a", keys[0], SourceBound)
}

func TestRunWritesBackBeforeItReturns(t *testing.T) {
	server := redistest.Start(t)
	one := newBerth(t, server.URL(), Options{}, 0)
	server.Kill()
	one.mustBind(t, task("1"), "a", time.Hour)
	server.Restart()
	realtest.Eventually(t, "the store is healthy", func() bool { return one.store.Ping(t.Context()) == nil && one.store.Healthy() })
	ended, end := context.WithCancel(t.Context())
	end()
	if err := one.Run(ended); err != nil {
		t.Errorf("Run: %v", err)
	}
	newBerth(t, server.URL(), Options{}, 0).owns(t, "a", task("1"), SourceStore)
}

// A session's version that is learned while Redis is away is written back with it.
func TestAmendedWithoutRedisIsWrittenBackAmended(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	server.Kill()
	one.mustBind(t, session("s"), "a", 0)
	one.Amend(t.Context(), session("s"), Binding{Upstream: "a", Version: "2025-03-26"}, "", "")
	server.Restart()
	realtest.Eventually(t, "it is written back", func() bool { return one.local.pending.len() == 0 && two.finds(t, "a", session("s")) })
	if got, _, err := two.Lookup(t.Context(), session("s")); err != nil || got.Version != "2025-03-26" {
		t.Errorf("got %+v, %v, want version 2025-03-26", got, err)
	}
}

func TestAnOutagePilesUpOnlySoMuch(t *testing.T) {
	var p pending
	p.entries = make(map[Key]entry, maxPending)
	for i := range maxPending - 1 {
		p.entries[task(strconv.Itoa(i))] = entry{}
	}
	for _, name := range []string{"last", "too many"} {
		if !p.add(entry{key: task(name), binding: Binding{Upstream: "a"}}) {
			t.Errorf("add %s: got a collision", name)
		}
	}
	if p.len() != maxPending {
		t.Errorf("pending: got %d, want %d", p.len(), maxPending)
	}
}

// A binding that was amended while its first form was on the way to the store
// stays pending.
func TestSettlingKeepsWhatWasAmended(t *testing.T) {
	var p pending
	first := entry{key: session("s"), binding: Binding{Upstream: "a"}}
	amended := first
	amended.binding.Version = "2025-03-26"
	p.add(first)
	p.swap(amended.key, nil, &amended)
	p.settle(first)
	if p.len() != 1 {
		t.Error("the amended binding was forgotten")
	}
	p.settle(amended)
	if p.len() != 0 {
		t.Error("the binding that was written is still pending")
	}
}

// What it takes to open a session anew is kept though the session began without a store, as it is by then, and shared with its binding.
func TestHandshakesKeptWithoutRedisAreWrittenBack(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	server.Kill()
	begin := func(id string) {
		t.Helper()
		if err := one.BindBeside(t.Context(), session(id), Binding{Upstream: "a"}, 0, Beside{Handshake: "of " + id}); err != nil {
			t.Fatalf("BindBeside: %v", err)
		}
		if b := one.owns(t, "a", session(id), SourceBound); b.Kept.IsZero() {
			t.Errorf("%s has no handshake that is kept", id)
		}
	}
	begin("1")
	begin("revised")
	begin("ended")
	one.mustBind(t, session("amended"), "a", 0)
	one.Amend(t.Context(), session("amended"), Binding{Upstream: "a", Version: "v"}, "of amended", "")
	revise := func(have []byte) ([]byte, error) { return append(have, " anew"...), nil }
	if err := one.ReviseHandshake(t.Context(), session("revised"), "", revise); err != nil {
		t.Errorf("ReviseHandshake: %v", err)
	}
	one.Unbind(t.Context(), session("ended"))
	one.DropHandshake(t.Context(), session("ended"))

	server.Restart()
	for id, want := range map[string]string{"1": "of 1", "revised": "of revised anew", "amended": "of amended"} {
		realtest.Eventually(t, "the other berth finds "+id, func() bool { return two.finds(t, "a", session(id)) })
		if got, err := two.Handshake(t.Context(), session(id)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", id, got, err, want)
		}
		if b := two.owns(t, "a", session(id), SourceLRU); b.Kept.IsZero() {
			t.Errorf("%s has no handshake that is kept", id)
		}
	}
	if got, err := two.Handshake(t.Context(), session("ended")); !errors.Is(err, ErrUnknown) {
		t.Errorf("of a session that has ended: got %q, %v", got, err)
	}
	if p := one.handshakes.pending; p.len() != 0 || p.size != 0 {
		t.Errorf("pending: %d of %d bytes", p.len(), p.size)
	}
}
