package sticky

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/storage/redistest"

	"github.com/redis/go-redis/v9"
)

func TestFirstOwnerWins(t *testing.T) {
	stores := map[string]func(t *testing.T) string{
		"memory": func(*testing.T) string { return "memory:" },
		"redis":  func(t *testing.T) string { return redistest.Start(t).URL() },
	}
	for name, url := range stores {
		t.Run(name, func(t *testing.T) {
			b := newBerth(t, url(t), Options{}, 0)
			b.mustBind(t, task("1"), "a", time.Hour)
			if err := b.Bind(t.Context(), task("1"), Binding{Upstream: "b"}, time.Hour); !errors.Is(err, ErrOwned) {
				t.Errorf("Bind to another upstream: got %v, want ErrOwned", err)
			}
			b.mustBind(t, task("1"), "a", time.Hour)
			if !b.finds(t, "a", task("1")) {
				t.Error("the first owner was not found")
			}
			if got := b.bound(t, outcomeCollision); got != 1 {
				t.Errorf("collisions counted: got %d, want 1", got)
			}
		})
	}
}

func TestTwoBerthsAgreeOnOneOwner(t *testing.T) {
	const keys = 300
	server := redistest.Start(t)
	berths := map[string]*berth{"a": onRedis(t, server), "b": onRedis(t, server)}
	for i := range keys {
		key := task(fmt.Sprint(i))
		var owners []string
		var mu sync.Mutex // guards owners
		var binding sync.WaitGroup
		for upstream, b := range berths {
			binding.Go(func() {
				err := b.Bind(t.Context(), key, Binding{Upstream: upstream}, time.Hour)
				if err != nil && !errors.Is(err, ErrOwned) {
					t.Errorf("Bind: %v", err)
				}
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					owners = append(owners, upstream)
				}
			})
		}
		binding.Wait()
		if len(owners) != 1 {
			t.Fatalf("key %d: owners %v, want one", i, owners)
		}
		for name, b := range berths {
			if !b.finds(t, owners[0], key) {
				t.Errorf("key %d: berth %s does not find its owner %s", i, name, owners[0])
			}
		}
	}
}

// What a caller may look up is his own: pool, principal and kind are part of the
// key, and no two keys can be written so that they become one.
func TestKeysThatDifferAreDifferentBindings(t *testing.T) {
	b := newBerth(t, "memory:", Options{}, 0)
	key := Key{Kind: Task, Pool: "pool", Principal: "alice", ID: "id"}
	b.mustBind(t, key, "a", 0)
	for _, other := range []Key{
		{Kind: Session, Pool: "pool", Principal: "alice", ID: "id"},
		{Kind: Task, Pool: "other", Principal: "alice", ID: "id"},
		{Kind: Task, Pool: "pool", Principal: "mallory", ID: "id"},
		{Kind: Task, Pool: "pool", ID: "id"},
		{Kind: Task, Pool: "poola", Principal: "lice", ID: "id"},
		{Kind: Task, Pool: "pool", Principal: "alicei", ID: "d"},
	} {
		b.unknown(t, other)
	}
	if got := b.owns(t, "a", key, SourceBound).Principal; got != "alice" {
		t.Errorf("principal: got %q, want alice", got)
	}
}

// Whoever can list the store's keys must not learn ids, which may be all that it
// takes to read a task, or who calls.
func TestStoreKeysTellNoIds(t *testing.T) {
	server := redistest.Start(t)
	b := onRedis(t, server)
	key := Key{Kind: Task, Pool: "thepool", Principal: "alice", ID: "0123-task"}
	b.mustBind(t, key, "a", time.Hour)
	b.mustBind(t, Key{Kind: Session, Pool: "thepool", Principal: "alice", ID: "4567-session"}, "a", 0)
	b.Prefer(t.Context(), Key{Kind: Hint, Pool: "thepool", Principal: "alice", ID: "89ab-cursor"}, "a")
	c := client(t, server)
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 5 {
		t.Fatalf("keys: got %v, %v, want 3 and 2 lists of what is owned", keys, err)
	}
	for _, name := range keys {
		value, err := readKey(t.Context(), c, name)
		if err != nil {
			t.Fatalf("GET: %v", err)
		}
		for _, secret := range []string{"0123", "4567", "89ab"} {
			if strings.Contains(name, secret) || strings.Contains(value, secret) {
				t.Errorf("%q: %q tells the id %s", name, value, secret)
			}
		}
		if strings.Contains(name, "alice") || strings.Contains(name, "thepool") {
			t.Errorf("the key %q tells pool or principal", name)
		}
	}
}

// readKey returns all that a key holds.
func readKey(ctx context.Context, c *redis.Client, name string) (string, error) {
	if c.Type(ctx, name).Val() != "zset" {
		return c.Get(ctx, name).Result()
	}
	members, err := c.ZRange(ctx, name, 0, -1).Result()
	return strings.Join(members, " "), err
}

func TestLastPreferenceCounts(t *testing.T) {
	b := newBerth(t, "memory:", Options{}, 0)
	cursor := Key{Kind: Hint, Pool: "p", ID: "cursor"}
	b.Prefer(t.Context(), cursor, "a")
	b.Prefer(t.Context(), cursor, "b")
	b.owns(t, "b", cursor, SourceBound)
}

func TestUnboundIsUnknownEverywhere(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	one.mustBind(t, task("1"), "a", time.Hour)
	one.Unbind(t.Context(), task("1"))
	one.unknown(t, task("1"))
	two.unknown(t, task("1"))
	two.mustBind(t, task("1"), "b", time.Hour)
	one.owns(t, "b", task("1"), SourceStore)
}

func TestAmendedVersionIsReadByOthers(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	one.mustBind(t, session("s"), "a", 0)
	one.Amend(t.Context(), session("s"), Binding{Upstream: "a", Version: "2025-03-26"}, "", "")
	for _, b := range []*berth{one, two} {
		if got, _, err := b.Lookup(t.Context(), session("s")); err != nil || got.Version != "2025-03-26" || got.Upstream != "a" {
			t.Errorf("got %+v, %v, want version 2025-03-26", got, err)
		}
	}
}

// A value of a format to come, or none at all, is no binding: the fleet is asked.
// It is left where it is, for those who can read it.
func TestUnreadableValueIsUnknownAndStays(t *testing.T) {
	for name, value := range map[string]string{
		"later format": `{"v":2,"up":"a"}`,
		"no upstream":  `{"v":1}`,
		"corrupt":      `{"v":1,`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBerth(t, "memory:", Options{}, 0)
			place := task("1").Digest()
			if err := b.store.Put(t.Context(), place, []byte(value), time.Hour); err != nil {
				t.Fatalf("Put: %v", err)
			}
			b.unknown(t, task("1"))
			if b.log.Count("level=WARN") != 1 {
				t.Error("no warning was logged")
			}
			b.mustBind(t, task("1"), "a", time.Hour)
			if record, err := b.store.Get(t.Context(), place); err != nil || string(record.Value) != value {
				t.Errorf("the value: got %q, %v, want it untouched", record.Value, err)
			}
		})
	}
}
