package storage_test

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// slots are shared out evenly, in order, among the masters of a new cluster.
const slots = 16384

// inSlotOf names the i-th of the keys that live where the test's first one does.
func inSlotOf(tag string, i int) string { return fmt.Sprintf("{%s}%d", tag, i) }

// homeOf is the node of a new cluster of three masters that holds a record.
func homeOf(cluster *redistest.Cluster, prefix, key string) int {
	return cluster.Slot(prefix+key) * 3 / slots
}

// keyOf is a key that the i-th master of a new cluster holds.
func keyOf(cluster *redistest.Cluster, prefix string, i int) string {
	for n := 0; ; n++ {
		if key := fmt.Sprint("key ", n); homeOf(cluster, prefix, key) == i {
			return key
		}
	}
}

// D17: while a slot moves, each operation on its keys is answered, wherever they are,
// and once.
func TestMovingSlotsAreFollowed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		durability string
		replicas   int
	}{{"ack", 0}, {"replicas:1", 1}} {
		t.Run(tc.durability, func(t *testing.T) {
			t.Parallel()
			cluster := redistest.StartCluster(t, 3, tc.replicas)
			s := open(t, cluster.URL(), storage.Options{Durability: tc.durability, Timeout: patient})
			const tag, keys = "moving", 20
			for i := range keys {
				put(t, s, inSlotOf(tag, i), "v")
			}
			slot, at := cluster.Slot("berth:"+inSlotOf(tag, 0)), homeOf(cluster, "berth:", inSlotOf(tag, 0))
			from, to := cluster.Nodes[at], cluster.Nodes[(at+1)%3]

			cluster.Migrate(slot, from, to)
			for i := range keys / 2 {
				cluster.MoveKey("berth:"+inSlotOf(tag, i), from, to)
			}
			writesOnce(t, s, tag, 0, keys) // half is at home, half is asked for, the new ones are made there
			for i := range keys {
				cluster.MoveKey("berth:"+inSlotOf(tag, i), from, to)
			}
			cluster.Moved(slot, from, to)
			writesOnce(t, s, tag, keys, keys)
			if !s.Healthy() {
				t.Errorf("Healthy: got false, %s", s.Health().LastError)
			}
		})
	}
}

// writesOnce reads, swaps and makes records of one slot. The records stand at version 1
// if round is 0, else at 2, and the new ones are told apart by it.
func writesOnce(t *testing.T, s *storage.Store, tag string, round, keys int) {
	t.Helper()
	version := uint64(1)
	if round > 0 {
		version = 2
	}
	for i := range keys {
		key := inSlotOf(tag, i)
		if record, err := s.Get(t.Context(), key); err != nil || record.Version != version {
			t.Errorf("Get %s: got version %d, %v; want %d", key, record.Version, err, version)
		}
		if record, err := s.Swap(t.Context(), key, version, []byte("w"), longLife); err != nil || record.Version != version+1 {
			t.Errorf("Swap %s: got version %d, %v; want %d", key, record.Version, err, version+1)
		}
		made := fmt.Sprintf("{%s}new-%d-%d", tag, round, i)
		if record, created, err := s.PutIfAbsent(t.Context(), made, []byte("v"), longLife); err != nil || !created || record.Version != 1 {
			t.Errorf("PutIfAbsent %s: got version %d, created %v, %v", made, record.Version, created, err)
		}
		if err := s.Delete(t.Context(), made); err != nil {
			t.Errorf("Delete %s: %v", made, err)
		}
	}
}

// A slot may move to a node that had none, which the store has never heard of.
func TestSlotsMoveToANewNode(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	s := open(t, cluster.URL(), storage.Options{})
	const tag = "moving"
	put(t, s, inSlotOf(tag, 0), "v")
	slot := cluster.Slot("berth:" + inSlotOf(tag, 0))
	from, to := cluster.Nodes[homeOf(cluster, "berth:", inSlotOf(tag, 0))], cluster.AddNode()
	cluster.Join(to)
	cluster.Migrate(slot, from, to)
	put(t, s, inSlotOf(tag, 1), "v")
	cluster.MoveKey("berth:"+inSlotOf(tag, 0), from, to)
	if !reads(t, s, inSlotOf(tag, 0), "v") || !reads(t, s, inSlotOf(tag, 1), "v") {
		t.Error("a record was not read where it went")
	}
	cluster.Moved(slot, from, to)
	put(t, s, inSlotOf(tag, 2), "v")
}

// A write whose answer is late is not sent again, though the driver's client of a
// cluster takes a time-out for a redirection.
func TestWritesToAClusterAreSentOnce(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	s := open(t, cluster.URL(), storage.Options{})
	put(t, s, "k", "v")
	owner := cluster.Nodes[homeOf(cluster, "berth:", "k")]
	var running sync.WaitGroup
	for range 50 { // idle connections that a repetition could take at once
		running.Go(func() { reads(t, s, "k", "v") })
	}
	running.Wait()
	owner.Stop()
	unavailable(t, s.Put(t.Context(), "k", []byte("w"), longLife), "timeout")
	owner.Cont()
	realtest.Eventually(t, "the write arrived", func() bool {
		record, err := s.Get(t.Context(), "k")
		if err == nil && record.Version > 2 {
			t.Fatalf("version: got %d, want 2: the write was sent twice", record.Version)
		}
		return record.Version == 2
	})
}

// A node that does not answer costs the keys that it holds, at first a time-out each and
// then nothing, and no others.
func TestFrozenNodeCostsItsOwnKeysOnly(t *testing.T) {
	t.Parallel()
	const keys = 60
	cluster := redistest.StartCluster(t, 3, 0)
	for _, node := range cluster.Nodes {
		node.Do("CONFIG", "SET", "cluster-require-full-coverage", "no")
	}
	s := open(t, cluster.URL(), storage.Options{})
	run(t, s)
	for i := range keys {
		put(t, s, fmt.Sprint(i), "v")
	}
	realtest.Eventually(t, "healthy", s.Healthy)
	frozen := cluster.Nodes[1]
	var theirs, others []string
	for i := range keys {
		if key := fmt.Sprint(i); homeOf(cluster, "berth:", key) == 1 {
			theirs = append(theirs, key)
		} else {
			others = append(others, key)
		}
	}

	frozen.Stop()
	realtest.Eventually(t, "the breaker opens", func() bool {
		_, err := s.Get(t.Context(), theirs[0])
		if err == nil || errors.Is(err, storage.ErrNotFound) {
			t.Fatalf("Get of a frozen node: got %v", err)
		}
		return !s.Healthy()
	})
	for range 5 {
		for _, key := range theirs {
			if _, err := s.Get(t.Context(), key); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("Get of a frozen node: got %v, want ErrUnavailable", err)
			}
		}
		for _, key := range others {
			if _, err := s.Swap(t.Context(), key, 0, nil, longLife); !errors.Is(err, storage.ErrConflict) {
				t.Errorf("Swap at another node: got %v, want its record", err)
			}
		}
	}

	frozen.Cont()
	realtest.Eventually(t, "healthy", s.Healthy)
	for _, key := range theirs {
		if !reads(t, s, key, "v") {
			t.Errorf("%s is not read after the freeze", key)
		}
	}
}

// clusterCalls is how often a node was asked for CLUSTER INFO; a Redis before 7 counts all of CLUSTER as one, and
// has none of it in MONITOR.
func clusterCalls(t *testing.T, node *redistest.Server) int {
	t.Helper()
	calls := regexp.MustCompile(`cmdstat_cluster(?:\|info)?:calls=(\d+)`).FindStringSubmatch(node.Do("INFO", "commandstats"))
	if calls == nil {
		t.Fatal("the node counts no CLUSTER INFO")
	}
	n, _ := strconv.Atoi(calls[1])
	return n
}

// D11: a cluster that finds itself incomplete refuses every key and answers PING. It is
// away, not empty, until it is whole again.
func TestIncompleteClusterIsUnavailable(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	var log realtest.Journal
	s := open(t, cluster.URL(), storage.Options{Logger: logger(&log)})
	run(t, s)
	for i := range cluster.Nodes {
		put(t, s, keyOf(cluster, "berth:", i), "v")
	}
	realtest.Eventually(t, "healthy", s.Healthy)
	for _, node := range cluster.Nodes {
		node.Do("CLUSTER", "DELSLOTS", "0")
	}
	key := keyOf(cluster, "berth:", 1)
	realtest.Eventually(t, "the cluster refuses", func() bool {
		_, err := s.Get(t.Context(), key)
		if errors.Is(err, storage.ErrNotFound) {
			t.Fatal("Get: got ErrNotFound for a key that exists")
		}
		return err != nil && !s.Healthy()
	})
	const probes = 4 // over seconds, in which the breaker is half open again and again
	before := clusterCalls(t, cluster.Nodes[1])
	realtest.Eventually(t, "the node is probed", func() bool { return clusterCalls(t, cluster.Nodes[1]) >= before+probes })
	if s.Healthy() || log.Count("store lost") != 1 || log.Count("store is back") != 0 {
		t.Errorf("healthy %v, want one outage until it ends:\n%s", s.Healthy(), log.String())
	}
	cluster.Nodes[0].Do("CLUSTER", "ADDSLOTS", "0")
	realtest.Eventually(t, "healthy", s.Healthy)
	for i := range cluster.Nodes {
		if !reads(t, s, keyOf(cluster, "berth:", i), "v") {
			t.Errorf("a record of node %d is not read", i)
		}
	}
}

// A node of a cluster under the URL of a single server knows of other nodes' keys only
// where they are: that is no store, and not "no such key".
func TestNodeOfAClusterIsNoServer(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	s := open(t, cluster.Nodes[0].URL(), storage.Options{})
	for range 3 {
		_, err := s.Get(t.Context(), keyOf(cluster, "berth:", 1))
		unavailable(t, err, "loading")
	}
	if s.Healthy() {
		t.Error("Healthy: got true, want false")
	}
}

// D18 for a cluster, and one that is not there at all.
func TestClusterSecretsAreUnspoken(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, 0)
	for _, node := range cluster.Nodes {
		node.Do("CONFIG", "SET", "requirepass", "another")
	}
	url := "redis+cluster://:" + canary + "@" + cluster.Nodes[0].Addr + "," + cluster.Nodes[1].Addr
	var log realtest.Journal
	s := open(t, url, storage.Options{Logger: logger(&log)})
	_, err := s.Get(t.Context(), "k")
	unavailable(t, err, "auth")
	run(t, s)
	realtest.Eventually(t, "logged", func() bool { return log.Count("store lost") == 1 })
	silent(t, s, &log, err)

	for _, node := range cluster.Nodes {
		node.Kill()
	}
	_, err = open(t, url, storage.Options{}).Get(t.Context(), "k")
	unavailable(t, err, "refused")
	silent(t, s, &log, err)
}
