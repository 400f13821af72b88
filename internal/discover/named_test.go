package discover_test

import (
	"testing"
	"time"

	"berth/internal/discover"
	"berth/internal/realtest"
)

// naming is the plan of a configuration that names instances, and has no source.
func naming(names string, linger time.Duration) discover.Plan {
	return discover.Plan{Named: at(names), Rules: discover.Rules{Linger: linger, Silent: time.Hour, ForgetAfter: time.Hour}}
}

// An instance that was taken out of the configuration is found by a berth that starts afterwards.
func TestABerthThatBeginsFindsWhoWasTakenOutOfTheFile(t *testing.T) {
	store := newStore(t)
	a := runPeer(t, store, "", naming("x y z", time.Hour))
	realtest.Eventually(t, "what the file names is written down", func() bool { return a.listed() == entry("x")+" "+entry("y")+" "+entry("z") })
	a.Follow(naming("z", time.Hour))
	a.await(t, "x drains, y drains")
	b := runPeer(t, store, "", naming("z", time.Hour))
	b.Seek(t.Context(), "nobody")
	b.await(t, "") // it owns nothing, and no binding names it
	b.Seek(t.Context(), "x")
	b.await(t, "x drains")
}

// What owns something is heard of before anybody asks for it: it may be asked whether it knows an id.
func TestABerthHearsOfThoseThatOwnSomething(t *testing.T) {
	store := newStore(t)
	a := runPeer(t, store, "", naming("x y z", time.Hour))
	realtest.Eventually(t, "what the file names is written down", func() bool { return a.listed() == entry("x")+" "+entry("y")+" "+entry("z") })
	runPeer(t, store, "x z", naming("z", time.Hour)).await(t, "x drains")
}

// Of two that go by different files, each has what the other names only as far as that owns something.
func TestNamedInstancesAreNotTakenForThoseThatLeft(t *testing.T) {
	store := newStore(t)
	a := runPeer(t, store, "x y", naming("x y", time.Hour))
	b := runPeer(t, store, "x y", naming("y", time.Hour))
	b.await(t, "x drains")
	b.Follow(naming("x y", time.Hour))
	b.await(t, "")
	b.Seek(t.Context(), "x")
	b.await(t, "")
	a.await(t, "")
	realtest.Eventually(t, "both stand", func() bool { return a.listed() == entry("x")+" "+entry("y") })
}

// A binding may be younger than what was read a moment ago.
func TestWhoSeeksReadsAnew(t *testing.T) {
	store := newStore(t)
	b := runPeer(t, store, "", naming("x", time.Hour))
	for _, name := range []string{"v", "w"} {
		writeDown(t, store, entry(name))
		b.Seek(t.Context(), name)
	}
	b.await(t, "v drains, w drains")
}

// One that the source tells of as well stays when the file does not name it any more.
func TestWhoIsNamedNoMoreMayBeDiscovered(t *testing.T) {
	store := newStore(t)
	a := newPeer(t, store, time.Hour)
	a.source <- answer{names: "x y"}
	a.await(t, "x, y")
	plan := discover.Plan{Named: at("x z"), Source: a.source, Key: "1", Rules: discover.Rules{Linger: time.Hour, Silent: time.Hour, ForgetAfter: time.Hour}}
	a.Follow(plan)
	plan.Named = nil
	a.Follow(plan)
	a.await(t, "x, y, z drains")
}
