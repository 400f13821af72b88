//go:build e2e

package storage_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
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
	created atomic.Int64

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
	realtest.Eventually(t, "records are acknowledged", func() bool { return l.count() >= want })
}

// lost are the acknowledged records that the store does not have.
func (l *load) lost(t *testing.T) []string {
	t.Helper()
	var lost []string
	for _, key := range l.acked {
		_, err := l.store.Get(t.Context(), key)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			lost = append(lost, key)
		case err != nil:
			t.Errorf("Get %s: %v", key, err)
		}
	}
	return lost
}

func TestScratchD9(t *testing.T) {
	for range 4 {
		sentinels := redistest.StartSentinels(t, 2)
		s := open(t, sentinels.URL(), storage.Options{})
		run(t, s)
		l := startLoad(t, s, 4)
		l.goesOn(t, 200)
		begin := time.Now()
		sentinels.Master().Kill()
		realtest.Eventually(t, "sent", func() bool { return l.count() > 0 && time.Since(begin) > 500*time.Millisecond })
		l.goesOn(t, 200)
		l.end()
		t.Logf("gap %v acked %d lost %d health %v", l.gap, len(l.acked), len(l.lost(t)), s.Health())
	}
}

func TestScratchD17(t *testing.T) {
	for range 2 {
		c := redistest.StartCluster(t, 3, 1)
		s := open(t, c.URL(), storage.Options{})
		run(t, s)
		l := startLoad(t, s, 4)
		l.goesOn(t, 200)
		begin := time.Now()
		c.Nodes[0].Kill()
		var worst error
		realtest.Eventually(t, "outage", func() bool { return !s.Healthy() })
		t.Logf("unhealthy after %v: %v", time.Since(begin), s.Health())
		realtest.Eventually(t, "healthy", func() bool { return s.Healthy() })
		t.Logf("healthy after %v", time.Since(begin))
		l.goesOn(t, 200)
		l.end()
		t.Logf("gap %v acked %d lost %d health %v %v", l.gap, len(l.acked), len(l.lost(t)), s.Health(), worst)
	}
}
