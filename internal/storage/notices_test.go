package storage_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
	"berth/internal/storage/storagetest"
)

func TestNoticesWithinAProcess(t *testing.T) {
	for _, url := range []string{"memory:", "file:" + filepath.Join(t.TempDir(), "berth.db")} {
		storagetest.TestNotices(t, func(t *testing.T) (one, other storage.Engine) {
			s := open(t, url, storage.Options{})
			return s, s
		})
	}
}

func TestNoticesBetweenProcesses(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"redis":    redistest.Start(t).URL(),
		"sentinel": redistest.StartSentinels(t, 0).URL(),
		"cluster":  redistest.StartCluster(t, 3, 0).URL(),
	} {
		var opened atomic.Int64
		t.Run(name, func(t *testing.T) {
			storagetest.TestNotices(t, func(t *testing.T) (one, other storage.Engine) {
				opts := storage.Options{Prefix: fmt.Sprint(opened.Add(1), ":")}
				return open(t, url, opts), open(t, url, opts)
			})
		})
	}
}

// Databases separate records, and the channels of Redis are of no database: what is said
// in one is not heard in the other all the same.
func TestDatabasesSeparateNotices(t *testing.T) {
	server := redistest.Start(t)
	first, second := open(t, server.URL(), storage.Options{}), open(t, "redis://"+server.Addr+"/1", storage.Options{})
	here, _ := storagetest.Watch(t, first, "topic")
	there, _ := storagetest.Watch(t, second, "topic")
	notified(t, first, here, "here")
	notified(t, second, there, "there")
	notified(t, first, here, "here again")
	if here.Count("there") != 0 || there.Count("here") != 0 {
		t.Errorf("heard %q and %q, want neither to hear the other's", here.All(), there.All())
	}
}

// notified notifies through s until a watcher has heard of it. Hints may be lost.
func notified(t *testing.T, s *storage.Store, heard *storagetest.Heard, message string) {
	t.Helper()
	realtest.Eventually(t, message+" arrives", func() bool {
		return s.Notify(t.Context(), "topic", message) == nil && heard.Count(message) > 0
	})
}

// A watcher whose connection is cut is told that it may have missed something, and hears
// again.
func TestCutWatcherIsTold(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	line := &redistest.Relay{}
	line.Start(t, server.Addr)
	heard, _ := storagetest.Watch(t, open(t, "redis://"+line.Addr(), storage.Options{}), "topic")
	line.Cut()
	realtest.Eventually(t, "the watcher is told", func() bool { return heard.Count("") == 2 })
	notified(t, open(t, server.URL(), storage.Options{}), heard, "afterwards")
}

// Nothing tells that a link swallows what should arrive, or that a server is frozen, but
// that the watcher does not hear itself.
func TestDeafWatcherIsTold(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	line := &redistest.Relay{}
	line.Start(t, server.Addr)
	watching, other := open(t, "redis://"+line.Addr(), storage.Options{}), open(t, server.URL(), storage.Options{})
	heard, _ := storagetest.Watch(t, watching, "topic")
	for outages, outage := range []struct{ begin, end func() }{
		{func() { line.Mute.Store(true) }, func() { line.Mute.Store(false) }},
		{server.Stop, server.Cont},
	} {
		connections := line.Accepted()
		outage.begin()
		realtest.Eventually(t, "the watcher connects anew", func() bool { return line.Accepted() > connections+1 })
		outage.end()
		realtest.Eventually(t, "the watcher is told", func() bool { return heard.Count("") >= outages+2 })
		notified(t, other, heard, fmt.Sprint("after outage ", outages))
	}
	realtest.Eventually(t, "one connection is left", func() bool {
		return strings.Count(server.Do("CLIENT", "LIST", "TYPE", "pubsub"), "cmd=") == 1
	})
}

// A server that was replaced and lives on answers each PING of those who are connected to
// it. That nothing is said there any more they find out by themselves.
func TestWatcherOfAFormerServerIsTold(t *testing.T) {
	t.Parallel()
	former, now := redistest.Start(t), redistest.Start(t)
	line := &redistest.Relay{}
	line.Start(t, former.Addr)
	s := open(t, "redis://"+line.Addr(), storage.Options{})
	heard, _ := storagetest.Watch(t, s, "topic")
	line.Turn(now.Addr)
	former.Do("CLIENT", "KILL", "TYPE", "normal")
	realtest.Eventually(t, "the watcher is told", func() bool { return heard.Count("") == 2 })
	notified(t, open(t, now.URL(), storage.Options{}), heard, "afterwards")
}

// A watcher says nothing about the store's health, and leaves nothing behind.
func TestWatchersAreNoTraffic(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	put(t, s, "k", "v")
	before := runtime.NumGoroutine()
	_, end := storagetest.Watch(t, s, "topic")
	server.Stop()
	end()
	server.Cont()
	realtest.Eventually(t, "goroutines back at the baseline", func() bool { return runtime.NumGoroutine() <= before })
	if !reads(t, s, "k", "v") || !s.Healthy() {
		t.Error("the watch was taken for an outage")
	}
}

// Nothing that a watcher waits for keeps it from ending.
func TestAWatchEndsAtOnce(t *testing.T) {
	s := open(t, redistest.Start(t).URL(), storage.Options{Timeout: time.Hour})
	_, end := storagetest.Watch(t, s, "topic")
	ends(t, realtest.Within, end)
}

func TestWatchEndsWithTheStore(t *testing.T) {
	for _, url := range []string{"memory:", redistest.Start(t).URL()} {
		s := open(t, url, storage.Options{})
		ended := make(chan error, 1)
		hears := make(chan struct{}, 1)
		go func() {
			ended <- s.Watch(t.Context(), "topic", func(string) { hears <- struct{}{} })
		}()
		<-hears
		if err := s.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		if err := <-ended; !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("Watch on %s: got %v, want ErrUnavailable", url, err)
		}
		if err := s.Watch(t.Context(), "topic", func(string) {}); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("Watch on a closed %s: got %v, want ErrUnavailable", url, err)
		}
	}
}
