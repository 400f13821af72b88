package file

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/engine"
	"berth/internal/storage/health"

	"go.etcd.io/bbolt"
)

// openEngine opens an engine whose insides a test looks at.
func openEngine(t *testing.T) *Engine {
	t.Helper()
	opts := Options{Log: slog.New(slog.DiscardHandler)}
	path := filepath.Join(t.TempDir(), "berth.db")
	e, err := Open(context.Background(), path, opts, health.New(opts.Log, true))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return e
}

// transactions is how many commits the file has seen.
func (e *Engine) transactions(t *testing.T) (id int) {
	t.Helper()
	e.view(t, func(tx *bbolt.Tx) { id = tx.ID() })
	return id
}

// kept fails the test unless the file holds so many records, and as many expiries.
func (e *Engine) kept(t *testing.T, want int) {
	t.Helper()
	e.view(t, func(tx *bbolt.Tx) {
		for _, bucket := range [][]byte{bucketRecords, bucketExpiries} {
			got := 0
			entries := tx.Bucket(bucket).Cursor()
			for key, _ := entries.First(); key != nil; key, _ = entries.Next() {
				got++
			}
			if got != want {
				t.Errorf("%s: got %d, want %d", bucket, got, want)
			}
		}
	})
}

func (e *Engine) view(t *testing.T, f func(tx *bbolt.Tx)) {
	t.Helper()
	if err := e.db.View(func(tx *bbolt.Tx) error { f(tx); return nil }); err != nil {
		t.Fatalf("View: %v", err)
	}
}

func (e *Engine) mustPut(t *testing.T, key string, ttl time.Duration) {
	t.Helper()
	if err := e.Put(t.Context(), key, nil, ttl); err != nil {
		t.Errorf("Put %s: %v", key, err)
	}
}

// Whoever comes while a commit is under way shares the next one.
func TestWritersShareACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers = 100
		e := openEngine(t)
		before := e.transactions(t)
		release := make(chan struct{})
		var running sync.WaitGroup
		running.Go(func() {
			_ = e.commits.do(t.Context(), func(*bbolt.Tx, time.Time) (bool, error) {
				<-release
				return false, nil
			})
		})
		synctest.Wait()
		for i := range writers {
			running.Go(func() { e.mustPut(t, fmt.Sprint(i), time.Hour) })
		}
		synctest.Wait()
		close(release)
		running.Wait()
		if got := e.transactions(t) - before; got != 1 {
			t.Errorf("commits of %d writes: got %d, want 1", writers, got)
		}
		e.kept(t, writers)
	})
}

// What changes nothing is not worth a sync.
func TestNothingNewIsNotCommitted(t *testing.T) {
	e := openEngine(t)
	e.mustPut(t, "k", time.Hour)
	before := e.transactions(t)
	for range 10 {
		if _, created, err := e.PutIfAbsent(t.Context(), "k", nil, time.Hour); created || err != nil {
			t.Errorf("PutIfAbsent: got %v, %v, want that it stands", created, err)
		}
		if _, err := e.Swap(t.Context(), "k", 7, nil, time.Hour); err != engine.ErrConflict {
			t.Errorf("Swap: got %v, want ErrConflict", err)
		}
		if err := e.Delete(t.Context(), "unknown"); err != nil {
			t.Errorf("Delete: %v", err)
		}
	}
	if got := e.transactions(t); got != before {
		t.Errorf("commits: got %d, want none", got-before)
	}
}

// A write that cannot be done does not take those down that came with it.
func TestAFailedWriteFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openEngine(t)
		own := errors.New("own")
		release := make(chan struct{})
		var running sync.WaitGroup
		running.Go(func() {
			_ = e.commits.do(t.Context(), func(*bbolt.Tx, time.Time) (bool, error) {
				<-release
				return false, nil
			})
		})
		synctest.Wait()
		for i := range 10 {
			running.Go(func() { e.mustPut(t, fmt.Sprint(i), time.Hour) })
			running.Go(func() {
				if err := e.commits.do(t.Context(), func(*bbolt.Tx, time.Time) (bool, error) { return true, own }); !errors.Is(err, own) {
					t.Errorf("got %v, want the write's own error", err)
				}
			})
		}
		synctest.Wait()
		close(release)
		running.Wait()
		e.kept(t, 10)
	})
}

// What fits into pages that are free by chance, and what expires, ends no outage: it
// would end and begin again with every write, and the alarm would never go off.
func TestAFullDiskIsOneOutage(t *testing.T) {
	e := openEngine(t)
	e.mustPut(t, "k", time.Hour)
	info, err := os.Stat(e.db.Path())
	if err != nil {
		t.Fatal(err)
	}
	room := realtest.FillDisk(t, uint64(info.Size()))
	for i := 0; e.commits.health.Snapshot().Healthy; i++ {
		_ = e.Put(t.Context(), fmt.Sprint(i), make([]byte, 1024), time.Hour)
	}
	for range 10 {
		_ = e.Put(t.Context(), "k", nil, time.Hour) // finds room or does not
		e.commits.cleanUp()
		if e.commits.health.Snapshot().Healthy {
			t.Fatal("healthy on a disk that is full: got true")
		}
	}
	room()
	e.commits.cleanUp()
	if !e.commits.health.Snapshot().Healthy {
		t.Error("healthy once there is room: got false")
	}
}

// A panic in a commit may leave bbolt locked for good: nobody touches it again, and
// nobody waits.
func TestAfterAPanicNothingIsWritten(t *testing.T) {
	e := openEngine(t)
	e.mustPut(t, "k", time.Hour)
	tried := 0
	for range 3 {
		err := e.commits.do(t.Context(), func(*bbolt.Tx, time.Time) (bool, error) {
			tried++
			panic("page 7 already freed")
		})
		if !errors.Is(err, errCorrupt) {
			t.Errorf("got %v, want that the file is damaged", err)
		}
	}
	if tried != 1 {
		t.Errorf("commits tried: got %d, want the one that panicked", tried)
	}
	if _, err := e.Get(t.Context(), "k"); err != nil {
		t.Errorf("Get: %v", err)
	}
}

// Expired records do not pile up, asked for or not.
func TestFileCollectsWhatExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openEngine(t)
		for i := range 50 {
			e.mustPut(t, fmt.Sprint(i), time.Second)
		}
		e.mustPut(t, "renewed", time.Second)
		e.mustPut(t, "renewed", time.Hour)
		e.kept(t, 51)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		e.kept(t, 1)
	})
}

// However much expires at once, one commit pays for little of it.
func TestFileCollectsLittleAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys, life = 3 * collectAtOnce, cleanEvery + cleanEvery/2
		e := openEngine(t)
		if err := e.db.Update(func(tx *bbolt.Tx) error {
			for i := range keys {
				if _, err := newUpdate(fmt.Sprint(i), nil, life).put(tx, nil, time.Now()); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(life)
		e.mustPut(t, "k", time.Hour)
		e.kept(t, keys-collectAlways+1)
		time.Sleep(cleanEvery)
		synctest.Wait()
		e.kept(t, keys-collectAlways+1-collectAtOnce)
	})
}
