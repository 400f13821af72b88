package sticky

import (
	"errors"
	"slices"
	"testing"
	"time"

	"berth/internal/storage/redistest"
	"berth/sticky/binding"
	"berth/sticky/roll"
)

// Where a binding and its owner's list may be on several servers, what is bound again is in the list all the while, and what was not
// bound, or counts no more, is in none that it does not belong to.
func TestWhatIsBoundAgainStaysListedOnSeveralServers(t *testing.T) {
	cluster := redistest.StartCluster(t, 3, 0)
	first, again := newBerth(t, cluster.URL(), Options{}, 0), newBerth(t, cluster.URL(), Options{}, 0)
	lists := func(list roll.Key, want ...string) {
		t.Helper()
		listing, err := again.store.Listing(t.Context(), list.List(), 9)
		var got []string
		for _, member := range listing.Members {
			got = append(got, member.Name)
		}
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s has %v, %v, want %v", list.Upstream, got, err, want)
		}
	}
	at := func(kind binding.Kind, upstream string) roll.Key {
		return roll.Key{Kind: kind, Pool: "p", Upstream: upstream}
	}
	bind := func(on *berth, key Key, upstream, alias string) error {
		return on.Bind(t.Context(), key, Binding{Upstream: upstream, Alias: alias, Session: "made in"}, time.Hour)
	}
	running, ended, alive := task("running"), task("ended"), session("alive")
	for _, key := range []Key{running, ended, alive} {
		if err := bind(first, key, "a", ""); err != nil {
			t.Fatal(err)
		}
	}
	over := first.owns(t, "a", ended, SourceStore)
	first.Observe(ended, &over, Seen{At: time.Now(), Status: "completed", Ended: true, Given: true})
	if err := first.refresher.apply(t.Context(), <-first.refresher.updates); err != nil {
		t.Fatal(err)
	}
	lists(at(Task, "a"), running.Digest())

	sent := removals(t, cluster, func() {
		if err := bind(again, running, "a", ""); err != nil {
			t.Error(err)
		}
	})
	if sent != 0 {
		t.Errorf("what is bound again is taken off lists %d times", sent)
	}
	if err := bind(again, ended, "a", ""); err != nil {
		t.Error(err)
	}
	lists(at(Task, "a"), running.Digest())
	for upstream, alias := range map[string]string{"b": "", "a": "other"} {
		for _, key := range []Key{running, alive} {
			if err := bind(again, key, upstream, alias); key == alive && !errors.Is(err, ErrOwned) || upstream == "b" && !errors.Is(err, ErrOwned) {
				t.Errorf("%v at %s: %v", key, upstream, err)
			}
		}
	}
	lists(at(Task, "a"), running.Digest())
	lists(at(Session, "a"), alive.Digest())
	lists(at(Task, "b"))
	lists(at(Session, "b"))
}

// removals counts how often a cluster's nodes are to take something off a list while do runs.
func removals(t *testing.T, cluster *redistest.Cluster, do func()) (n int) {
	t.Helper()
	for _, node := range cluster.Nodes {
		do = func(do func()) func() {
			return func() {
				for _, name := range commands(t, node, do) {
					if name == "zrem" {
						n++
					}
				}
			}
		}(do)
	}
	do()
	return n
}
