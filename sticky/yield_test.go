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

// The ranks of a binding: nobody has told of the task, its owner has, or did so when it was
// asked, a server made the id.
var (
	asked = func(upstream string) Binding {
		return Binding{Upstream: upstream, Dialect: "core", Asked: true}
	}
	toldOf = func(upstream string) Binding {
		return Binding{Upstream: upstream, Dialect: binding.Draft, Status: "working"}
	}
	serverMade = func(upstream string) Binding { return Binding{Upstream: upstream, Dialect: "core"} }
)

// yields are all pairs of a binding that stands and one that is made.
var yields = []struct {
	name            string
	stands, made    Binding
	takesThePlaceOf bool
}{
	{"a provisional one and a server's", made("a"), serverMade("b"), true},
	{"a provisional one and one told of", made("a"), toldOf("b"), true},
	{"a provisional one and another", made("a"), made("b"), false},
	{"one told of and a server's", toldOf("a"), serverMade("b"), true},
	{"one told of and another", toldOf("a"), toldOf("b"), false},
	{"one told of and a provisional one", toldOf("a"), made("b"), false},
	{"a server's and a provisional one", serverMade("a"), made("b"), false},
	{"a server's and one told of", serverMade("a"), toldOf("b"), false},
	{"two servers'", serverMade("a"), serverMade("b"), false},
	{"one asked for and a server's", asked("a"), serverMade("b"), true},
	{"one asked for and another", asked("a"), asked("b"), false},
	{"one asked for and one told of", asked("a"), toldOf("b"), false},
	{"one asked for and a provisional one", asked("a"), made("b"), false},
	{"a provisional one and one asked for", made("a"), asked("b"), true},
	{"a server's and one asked for", serverMade("a"), asked("b"), false},
}

// Whoever guesses the ids that a server will make must not keep it from making them: what
// a client says of an id yields, in whichever berth it was said.
func TestServersIDTakesTheClientsPlace(t *testing.T) {
	server := redistest.Start(t)
	for i, tc := range yields {
		t.Run(tc.name, func(t *testing.T) {
			one, two, key := onRedis(t, server), onRedis(t, server), task(string(rune('A'+i)))
			if err := one.Bind(t.Context(), key, tc.stands, 0); err != nil {
				t.Fatal(err)
			}
			one.finds(t, tc.stands.Upstream, key) // a copy of it, if one is kept
			owner, want := "a", ErrOwned
			if tc.takesThePlaceOf {
				owner, want = "b", nil
			}
			if err := two.Bind(t.Context(), key, tc.made, time.Hour); !errors.Is(err, want) {
				t.Errorf("Bind: got %v, want %v", err, want)
			}
			for name, b := range map[string]*berth{"first": one, "second": two} {
				if !b.finds(t, owner, key) {
					t.Errorf("the %s berth: not bound to %s", name, owner)
				}
			}
		})
	}
}

// The same without the store, and when it is back.
func TestServersIDTakesTheClientsPlaceWithoutRedis(t *testing.T) {
	server := redistest.Start(t)
	other := newBerth(t, server.URL(), Options{Near: 10}, 0)
	if err := other.Bind(t.Context(), task("2"), made("c"), 0); err != nil {
		t.Fatal(err)
	}
	b := newBerth(t, server.URL(), Options{Near: 10}, 0)
	server.Stop()
	b.bindMade(t, "a")
	for _, id := range []string{"1", "2"} {
		if err := b.Bind(t.Context(), task(id), serverMade("b"), time.Hour); err != nil {
			t.Errorf("Bind %s: %v", id, err)
		}
		b.owns(t, "b", task(id), SourceBound)
	}
	server.Cont()
	b.run(t)
	realtest.Eventually(t, "it is written back", func() bool { return b.local.pending.len() == 0 })
	other.owns(t, "b", task("1"), SourceStore)
	other.owns(t, "b", task("2"), SourceStore)
}

// A refresh that is late does not undo it.
func TestLateRefreshYields(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	if err := one.Bind(t.Context(), task("1"), toldOf("a"), 0); err != nil {
		t.Fatal(err)
	}
	current := one.owns(t, "a", task("1"), SourceStore)
	if err := two.Bind(t.Context(), task("1"), serverMade("a"), 0); err != nil {
		t.Fatal(err)
	}
	one.Observe(task("1"), &current, Seen{At: time.Now(), Status: "completed", TTL: 0})
	one.Observe(session("last"), new(Binding{Upstream: "a"}), Seen{At: time.Now(), Status: "", TTL: 0})
	realtest.Eventually(t, "both are written", func() bool { return one.finds(t, "a", session("last")) && len(one.refresher.updates) == 0 })
	if got := two.owns(t, "a", task("1"), SourceLRU); got.ClientMade() {
		t.Errorf("got %+v, want the server's", got)
	}
	if got, _ := two.Reload(t.Context(), task("1")); got.ClientMade() {
		t.Errorf("in the store: got %+v, want the server's", got)
	}
}

// What nobody has told of is forgotten within minutes, and so is its claim; what was told
// of lives as any task's binding does.
func TestProvisionalBindingLivesForMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{})
		for _, key := range []Key{task("1"), task("1").Claim(), task("2")} {
			if err := b.Bind(t.Context(), key, made("a"), 0); err != nil {
				t.Fatal(err)
			}
		}
		pass(ProvisionalLife - time.Second)
		b.owns(t, "a", task("1"), SourceBound)
		if err := b.Bind(t.Context(), task("2"), toldOf("a"), 0); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		b.unknown(t, task("1"))
		b.unknown(t, task("1").Claim())
		b.owns(t, "a", task("2"), SourceBound)
	})
}

// Of two who made the same id at once, neither gives up nor moves the other's.
func TestProvisionalBindingIsItsMakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inMemory(t, Options{})
		mine, others := made("a"), made("a")
		mine.Maker, others.Maker = "mine", "another's"
		for _, binding := range []Binding{mine, others} {
			if err := b.Bind(t.Context(), task("1"), binding, 0); err != nil {
				t.Fatal(err)
			}
		}
		b.ReleaseProvisional(t.Context(), task("1"), "a", "another's")
		others.Upstream = "b"
		if err := b.RebindProvisional(t.Context(), task("1"), "a", others); !errors.Is(err, ErrOwned) {
			t.Errorf("RebindProvisional: got %v, want ErrOwned", err)
		}
		pass(time.Millisecond)
		b.owns(t, "a", task("1"), SourceBound)
		b.ReleaseProvisional(t.Context(), task("1"), "a", "mine")
		pass(time.Millisecond)
		b.unknown(t, task("1"))
	})
}

// What answers hand out takes the place of what calls carry, at every berth; and no more
// than the first of those that hand it out.
func TestHandedOutValueTakesThePlaceOfOneInUse(t *testing.T) {
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	value := Key{Kind: Affinity, Pool: "p", ID: "cart 7"}
	handedOut := func(upstream string) Binding { return Binding{Upstream: upstream, Fixed: true} }
	one.mustBind(t, value, "a", 0)
	two.owns(t, "a", value, SourceStore)
	if err := two.Bind(t.Context(), value, Binding{Upstream: "b"}, 0); !errors.Is(err, ErrOwned) {
		t.Errorf("another use: got %v, want ErrOwned", err)
	}
	if err := one.Bind(t.Context(), value, handedOut("b"), 0); err != nil {
		t.Errorf("handed out: %v", err)
	}
	two.owns(t, "b", value, SourceStore)
	one.owns(t, "b", value, SourceLRU)
	for _, binding := range []Binding{handedOut("c"), {Upstream: "c"}} {
		if err := two.Bind(t.Context(), value, binding, 0); !errors.Is(err, ErrOwned) {
			t.Errorf("%+v: got %v, want ErrOwned", binding, err)
		}
	}
}

// With the store away the last that was known of an id that yields is as good as any other.
func TestWhatYieldsIsKnownWithoutRedis(t *testing.T) {
	server := redistest.Start(t)
	b := onRedis(t, server)
	if err := b.Bind(t.Context(), task("1"), toldOf("a"), 0); err != nil {
		t.Fatal(err)
	}
	b.owns(t, "a", task("1"), SourceStore)
	server.Kill()
	b.owns(t, "a", task("1"), SourceLRU)
}
