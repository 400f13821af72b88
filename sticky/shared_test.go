package sticky

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// patient is a time-out of the store for tests that freeze it and let it go on.
const patient = 10 * time.Second

// gets is how many GET commands server has run for clients; those in scripts
// count too, so nothing may be written in between.
func gets(t *testing.T, server *redistest.Server) int {
	t.Helper()
	stats, err := client(t, server).Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatalf("INFO: %v", err)
	}
	found := regexp.MustCompile(`cmdstat_get:calls=(\d+)`).FindStringSubmatch(stats)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatalf("INFO: %v", err)
	}
	return n
}

// A task made through one berth and polled through another at once is found,
// every time.
func TestBoundThroughOneIsFoundThroughTheOther(t *testing.T) {
	const workers, each = 4, 2500
	server := redistest.Start(t)
	one, two := onRedis(t, server), onRedis(t, server)
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			for i := range each {
				key := task(fmt.Sprintf("%d-%d", w, i))
				if err := one.Bind(t.Context(), key, Binding{Upstream: "a"}, time.Hour); err != nil {
					t.Errorf("Bind: %v", err)
					return
				}
				if binding, source, err := two.Lookup(t.Context(), key); err != nil || binding.Upstream != "a" || source != SourceStore {
					t.Errorf("Lookup %s: got %q, %q, %v", key.ID, binding.Upstream, source, err)
					return
				}
			}
		})
	}
	running.Wait()
	if one.local.pending.len() != 0 {
		t.Errorf("pending: got %d, want 0: Redis was never away", one.local.pending.len())
	}
}

func TestAMissIsOneGetHoweverManyWait(t *testing.T) {
	const callers = 100
	server := redistest.Start(t)
	newBerth(t, server.URL(), Options{}, patient).mustBind(t, task("1"), "a", time.Hour)
	b := newBerth(t, server.URL(), Options{Near: 10}, patient)
	before := gets(t, server)
	server.Stop()
	var started, running sync.WaitGroup
	for range callers {
		started.Add(1)
		running.Go(func() {
			started.Done()
			if !b.finds(t, "a", task("1")) {
				t.Error("not found")
			}
		})
	}
	started.Wait()
	server.Cont()
	running.Wait()
	b.owns(t, "a", task("1"), SourceLRU)
	if got := gets(t, server) - before; got != 1 {
		t.Errorf("GETs for %d callers: got %d, want 1", callers, got)
	}
}

// waiting is a context that tells when somebody begins to wait for its end, or asks the store with it.
type waiting struct {
	context.Context
	once  sync.Once
	begun chan struct{}
}

func (w *waiting) Done() <-chan struct{} {
	w.once.Do(func() { close(w.begun) })
	return w.Context.Done()
}

func (w *waiting) Value(key any) any {
	w.once.Do(func() { close(w.begun) })
	return w.Context.Value(key)
}

// The caller who happens to begin a look-up may leave: it reads on, within the store's bounds, and the others go on
// waiting for the answer.
func TestAFirstCallerWhoLeavesDoesNotFailTheOthers(t *testing.T) {
	server := redistest.Start(t)
	newBerth(t, server.URL(), Options{}, patient).mustBind(t, task("1"), "a", time.Hour)
	b := newBerth(t, server.URL(), Options{Near: 10}, patient)
	server.Stop()

	ctx, leave := context.WithCancel(t.Context())
	first := &waiting{Context: ctx, begun: make(chan struct{})}
	left := make(chan error, 1)
	go func() {
		_, _, err := b.Lookup(first, task("1"))
		left <- err
	}()
	<-first.begun
	second := &waiting{Context: t.Context(), begun: make(chan struct{})}
	found := make(chan error, 1)
	go func() {
		_, _, err := b.Lookup(second, task("1"))
		found <- err
	}()
	<-second.begun
	leave()
	server.Cont()
	if err := <-left; err != nil {
		t.Errorf("the first, who went on reading for the others: got %v", err)
	}
	if err := <-found; err != nil {
		t.Errorf("the second: got %v, want the binding", err)
	}
}

func TestWhatTheCacheKnowsNeedsNoRedis(t *testing.T) {
	server := redistest.Start(t)
	b := onRedis(t, server)
	b.mustBind(t, task("1"), "a", time.Hour)
	newBerth(t, server.URL(), Options{}, 0).mustBind(t, task("2"), "b", time.Hour)
	b.owns(t, "b", task("2"), SourceStore)
	server.Kill()
	for range 100 {
		b.owns(t, "a", task("1"), SourceLRU)
		b.owns(t, "b", task("2"), SourceLRU)
	}
	if _, _, err := b.Lookup(t.Context(), task("3")); !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, ErrUnknown) {
		t.Errorf("an id that the cache does not know: got %v, want ErrUnavailable", err)
	}
}

// Caches hold what fits; the store holds all.
func TestWhatTheCacheForgotIsLookedUpAgain(t *testing.T) {
	server := redistest.Start(t)
	b := newBerth(t, server.URL(), Options{Near: 1}, 0)
	b.mustBind(t, task("1"), "a", time.Hour)
	b.mustBind(t, task("2"), "b", time.Hour)
	b.owns(t, "a", task("1"), SourceStore)
	b.owns(t, "b", task("2"), SourceStore)
	b.owns(t, "b", task("2"), SourceLRU)
}
