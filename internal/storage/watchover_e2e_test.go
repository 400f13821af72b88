//go:build e2e

package storage_test

import (
	"testing"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/internal/storage/storagetest"
)

// A watcher finds the server that notices are sent to after a fail-over, whether the one
// before is dead, frozen, or lives on as a replica.
func TestWatchersFollowAFailOver(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*redistest.Sentinels){
		"killed":   func(s *redistest.Sentinels) { s.Servers[0].Kill() },
		"frozen":   func(s *redistest.Sentinels) { s.Servers[0].Stop() },
		"replaced": func(s *redistest.Sentinels) { s.FailOver() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := redistest.StartSentinels(t, 1)
			watches(t, set.URL(), func(string) { fault(set) })
		})
	}
}

// The same in a cluster, of the node that watchers of the topic are connected to.
func TestWatchersFollowAClustersFailOver(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*redistest.Server){
		"killed": (*redistest.Server).Kill,
		"frozen": (*redistest.Server).Stop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := redistest.StartCluster(t, 3, 1)
			watches(t, cluster.URL(), func(topic string) { fault(cluster.Nodes[homeOf(cluster, "berth:", topic)]) })
		})
	}
}

// watches lets a fault befall those who watch, and wants them to hear again.
func watches(t *testing.T, url string, fault func(topic string)) {
	const topic = "topic"
	watching, other := open(t, url, storage.Options{}), open(t, url, storage.Options{})
	run(t, other)
	heard, _ := storagetest.Watch(t, watching, topic)
	fault(topic)
	eventually(t, "a message is heard after the fail-over", func() bool {
		return other.Notify(t.Context(), topic, "after") == nil && heard.Count("after") > 0
	})
}
