package sticky

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/redistest"
	"berth/sticky/binding"
)

// made is a binding of a task whose id its client made.
func made(upstream string) Binding { return Binding{Upstream: upstream, Dialect: binding.Draft} }

// bindMade binds task 1 provisionally.
func (b *berth) bindMade(t *testing.T, upstream string) {
	t.Helper()
	if err := b.Bind(t.Context(), task("1"), made(upstream), 0); err != nil {
		t.Fatalf("Bind: %v", err)
	}
}

// A binding that moves is found where it is by every berth at once, for none trusts a copy
// of it, not even once the owner has told of the task: the id may be a server's, too.
func TestProvisionalBindingMoves(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	one.bindMade(t, "a")
	two.owns(t, "a", task("1"), SourceStore)
	if err := one.RebindProvisional(t.Context(), task("1"), "a", made("b")); err != nil {
		t.Fatalf("RebindProvisional: %v", err)
	}
	one.owns(t, "b", task("1"), SourceStore)
	binding := two.owns(t, "b", task("1"), SourceStore)

	two.Observe(task("1"), &binding, Seen{At: time.Now(), Status: "submitted", TTL: 0})
	realtest.Eventually(t, "the store hears that the owner knows the task", func() bool {
		binding, _, err := one.Lookup(t.Context(), task("1"))
		return err == nil && !binding.Provisional()
	})
	two.owns(t, "b", task("1"), SourceStore)
}

// What the owner has told of, what another holds, and what is gone, stays as it is.
func TestOnlyAProvisionalBindingOfOursMoves(t *testing.T) {
	for name, stands := range map[string]Binding{
		"told of":    {Upstream: "a", Dialect: binding.Draft, Status: "working"},
		"another's":  made("c"),
		"a server's": {Upstream: "a", Dialect: "core"},
		"given up":   {},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBerth(t, "memory:", Options{}, 0)
			if stands.Upstream != "" {
				if err := b.Bind(t.Context(), task("1"), stands, 0); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.RebindProvisional(t.Context(), task("1"), "a", made("b")); !errors.Is(err, ErrOwned) {
				t.Errorf("RebindProvisional: got %v, want ErrOwned", err)
			}
			b.ReleaseProvisional(t.Context(), task("1"), "a", "")
			if stands.Upstream != "" {
				b.owns(t, stands.Upstream, task("1"), SourceBound)
			} else {
				b.unknown(t, task("1"))
			}
		})
	}
}

func TestReleasedBindingIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{})
		b.bindMade(t, "a")
		b.ReleaseProvisional(t.Context(), task("1"), "a", "")
		pass(time.Millisecond)
		b.unknown(t, task("1"))
		b.bindMade(t, "b")
		b.owns(t, "b", task("1"), SourceBound)
	})
}

// With the store away, a binding moves in the process that made it, and is written back
// from where it is.
func TestProvisionalBindingMovesWithoutRedis(t *testing.T) {
	server := redistest.Start(t)
	b := newBerth(t, server.URL(), Options{Near: 10}, 0)
	server.Kill()
	b.bindMade(t, "a")
	if err := b.RebindProvisional(t.Context(), task("1"), "a", made("b")); err != nil {
		t.Fatalf("RebindProvisional: %v", err)
	}
	b.owns(t, "b", task("1"), SourceBound)
	b.ReleaseProvisional(t.Context(), task("1"), "b", "")
	if b.local.pending.len() != 0 {
		t.Errorf("pending after ReleaseProvisional: got %d, want 0", b.local.pending.len())
	}
	b.bindMade(t, "c")
	server.Restart()
	b.run(t)
	realtest.Eventually(t, "it is written back", func() bool { return b.local.pending.len() == 0 })
	newBerth(t, server.URL(), Options{}, 0).owns(t, "c", task("1"), SourceStore)
}

// A value whose upstream is gone belongs to the next one; of two that try, one wins, and
// whoever followed the old binding learns of it at the next touch.
func TestValueIsReboundOnce(t *testing.T) {
	server := redistest.Start(t)
	value := Key{Kind: Affinity, Pool: "p", ID: "cart 7"}
	one, two := onRedis(t, server), onRedis(t, server)
	one.mustBind(t, value, "gone", 0)
	stale := two.owns(t, "gone", value, SourceStore)
	if err := one.RebindAffinity(t.Context(), value, "gone", Binding{Upstream: "a"}); err != nil {
		t.Fatalf("RebindAffinity: %v", err)
	}
	one.owns(t, "a", value, SourceStore)
	if err := two.RebindAffinity(t.Context(), value, "gone", Binding{Upstream: "b"}); !errors.Is(err, ErrOwned) {
		t.Errorf("a second RebindAffinity: got %v, want ErrOwned", err)
	}
	two.owns(t, "a", value, SourceStore)

	three := onRedis(t, server)
	stale.Expires = stale.Expires.Add(-time.Hour) // long since touched
	three.local.add(&entry{key: value, binding: stale})
	three.Touch(value, stale)
	realtest.Eventually(t, "a touch finds out", func() bool { return three.finds(t, "a", value) })
}

func TestValuesIdleOutAsSessionsDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		value := Key{Kind: Affinity, Pool: "p", ID: "cart 7"}
		b := inMemory(t, Options{SessionIdle: time.Hour})
		b.mustBind(t, value, "a", 0)
		for range 3 {
			pass(50 * time.Minute)
			b.Touch(value, b.owns(t, "a", value, SourceBound))
		}
		pass(time.Hour + time.Second)
		b.unknown(t, value)
	})
}
