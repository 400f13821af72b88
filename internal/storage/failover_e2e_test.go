//go:build e2e

package storage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// writeEvery is the pace of each of the writers that go on through a fail-over.
const writeEvery = 5 * time.Millisecond

// load makes records through a store, one after another, and remembers which of them
// the store acknowledged.
type load struct {
	store *storage.Store
	stop  context.CancelFunc

	running sync.WaitGroup

	mu    sync.Mutex // guards the fields below
	acked []string
	gap   time.Duration // the longest between two acknowledgements
	last  time.Time
}

// startLoad writes until the load is ended, by that many writers.
func startLoad(t *testing.T, s *storage.Store, writers int) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{store: s, stop: cancel, last: time.Now()}
	for writer := range writers {
		l.running.Go(func() { l.write(ctx, t, fmt.Sprint(writer)) })
	}
	t.Cleanup(l.end)
	return l
}

func (l *load) end() {
	l.stop()
	l.running.Wait()
}

func (l *load) write(ctx context.Context, t *testing.T, writer string) {
	pace := time.NewTicker(writeEvery)
	defer pace.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		key := fmt.Sprintf("%s-%d", writer, i)
		standing, _, err := l.store.PutIfAbsent(context.WithoutCancel(ctx), key, []byte(key), longLife)
		switch {
		case err == nil && string(standing.Value) == key:
			l.acknowledge(key)
		case err == nil:
			t.Errorf("%s: got the record %q", key, standing.Value)
		case !errors.Is(err, storage.ErrUnavailable):
			t.Errorf("%s: got %v, want ErrUnavailable", key, err)
		}
		<-pace.C
	}
}

func (l *load) acknowledge(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gap = max(l.gap, time.Since(l.last))
	l.last = time.Now()
	l.acked = append(l.acked, key)
}

func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

// goesOn waits until that many more are acknowledged than now.
func (l *load) goesOn(t *testing.T, more int) {
	t.Helper()
	want := l.count() + more
	eventually(t, "records are acknowledged", func() bool { return l.count() >= want })
}

// lost are the acknowledged records that the store does not have.
func (l *load) lost(t *testing.T) []string {
	t.Helper()
	var lost []string
	for _, key := range l.acked {
		var err error
		eventually(t, "the store says whether it has "+key, func() bool {
			_, err = l.store.Get(t.Context(), key)
			return err == nil || errors.Is(err, storage.ErrNotFound)
		})
		if err != nil {
			lost = append(lost, key)
		}
	}
	return lost
}

// failedOver bounds a fail-over, from the fault until the store serves again. It is a
// liveness bound: sentinels that a busy machine kept waiting for two seconds look on
// for half a minute before they act.
const failedOver = time.Minute

// eventually is realtest.Eventually for as long as a fail-over may take.
func eventually(t *testing.T, what string, reached func() bool) {
	t.Helper()
	if !realtest.Until(failedOver, reached) {
		t.Fatalf("not within %v: %s", failedOver, what)
	}
}

// D9, D10: whether the master dies or freezes and wakes up as a former one: what the
// store acknowledged with replicas:1 is there after the fail-over. It happens while
// the replicas lag behind, so that the master alone has something.
func TestFailOverLosesNothingConfirmed(t *testing.T) {
	for name, fault := range map[string]struct{ begin, end func(*redistest.Server) }{
		"killed": {(*redistest.Server).Kill, func(*redistest.Server) {}},
		"frozen": {(*redistest.Server).Stop, (*redistest.Server).Cont},
	} {
		t.Run(name, func(t *testing.T) {
			sentinels := redistest.StartSentinels(t, 2)
			s := open(t, sentinels.URL(), storage.Options{Durability: "replicas:1"})
			run(t, s)
			load := startLoad(t, s, 4)
			load.goesOn(t, 200)
			master := sentinels.Master()
			lag(t, s, master, sentinels.Servers[1:], func() { fault.begin(master) })
			eventually(t, "the store is lost", func() bool { return !s.Healthy() })
			eventually(t, "the store is back", s.Healthy)
			fault.end(master)
			load.goesOn(t, 200)
			load.end()
			load.wantNothingLost(t)
			if sentinels.Master() == master {
				t.Error("the master is the same as before")
			}
		})
	}
}

// lag lets replicas lag behind their master while something happens to it: some writes
// are the master's alone. What is on its way to a frozen replica would still be read
// by it, so the lines between them are cut.
func lag(t *testing.T, s *storage.Store, master *redistest.Server, replicas []*redistest.Server, meanwhile func()) {
	t.Helper()
	for _, replica := range replicas {
		replica.Stop()
	}
	master.Do("CLIENT", "KILL", "TYPE", "replica")
	for i := range 5 {
		_ = s.Put(t.Context(), fmt.Sprint("of the master alone ", i), nil, longLife) // refused, most likely
	}
	meanwhile()
	for _, replica := range replicas {
		replica.Cont()
	}
}

// wantNothingLost fails the test if a record is gone that the store acknowledged.
func (l *load) wantNothingLost(t *testing.T) {
	t.Helper()
	if lost := l.lost(t); len(lost) > 0 {
		t.Errorf("lost: got %d of %d acknowledged records, want none: %.100q", len(lost), len(l.acked), lost)
	}
	t.Logf("%d records acknowledged; %v without any", len(l.acked), l.gap.Round(time.Millisecond))
}

// D11: a master that is demoted though it is well goes on answering, as a replica. It is
// left for the new one; in between it is unavailable at worst, and knows what it knew.
// For a second it and its other replica do not know of the new master: with
// replicas:1 the two of them would confirm what is lost when they do.
func TestDemotedMasterIsLeft(t *testing.T) {
	sentinels := redistest.StartSentinels(t, 2)
	s := open(t, sentinels.URL(), storage.Options{Durability: "replicas:2"})
	run(t, s)
	put(t, s, "known", "v")
	load := startLoad(t, s, 4)
	load.goesOn(t, 200)
	before := sentinels.Master()
	sentinels.FailOver()
	eventually(t, "there is another master", func() bool {
		reads(t, s, "known", "v")
		now := sentinels.Master()
		return now != nil && now != before
	})
	load.goesOn(t, 200)
	load.end()
	load.wantNothingLost(t)
}

// D17: a node dies and its replica takes over. The other nodes' keys go on, apart from
// the moment in which the cluster finds itself incomplete; nothing that was confirmed
// is lost; and the dead node is not waited for when nobody needs it any more.
func TestClusterFailOver(t *testing.T) {
	cluster := redistest.StartCluster(t, 3, 1)
	s := open(t, cluster.URL(), storage.Options{Durability: "replicas:1"})
	run(t, s)
	byTraffic := open(t, cluster.URL(), storage.Options{Prefix: "another:"})
	theirs := keyOf(cluster, "another:", 0)
	put(t, byTraffic, theirs, "v")

	load := startLoad(t, s, 4)
	load.goesOn(t, 200)
	lag(t, s, cluster.Nodes[0], cluster.Nodes[3:4], cluster.Nodes[0].Kill)
	died := time.Now()
	eventually(t, "the store is lost", func() bool { return !s.Healthy() })
	eventually(t, "the replica takes over", func() bool {
		return strings.Contains(cluster.Nodes[3].Do("INFO", "replication"), "role:master")
	})
	tookOver := time.Since(died)
	eventually(t, "the store is back", s.Healthy)
	t.Logf("the replica took over after %v, at a time-out of %d ms; the store was back after %v",
		tookOver.Round(time.Millisecond), redistest.NodeTimeout, time.Since(died).Round(time.Millisecond))
	load.goesOn(t, 200)
	load.end()
	load.wantNothingLost(t)
	realtest.Eventually(t, "a store that is not probed finds the new master", func() bool {
		return byTraffic.Put(t.Context(), theirs, []byte("w"), longLife) == nil
	})
}
