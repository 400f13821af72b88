package storagetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
)

// TestNotices runs the contract of notices. open returns two handles on one store, which
// may be the same, without any of the topics of earlier calls.
func TestNotices(t *testing.T, open func(t *testing.T) (one, other storage.Engine)) {
	t.Run("AMessageReachesAllWhoWatch", func(t *testing.T) { messagesArrive(t, open) })
	t.Run("AWatchEndsWithItsContext", func(t *testing.T) { watchEnds(t, open) })
	t.Run("ASlowWatcherHoldsUpNobody", func(t *testing.T) { slowWatcher(t, open) })
}

// Heard is what a watcher has heard so far.
type Heard struct {
	mu       sync.Mutex // guards messages
	messages []string
}

// Watch watches topic until the end of the test, or until end is called, and waits until
// the watcher is told that it hears.
func Watch(t *testing.T, engine storage.Engine, topic string) (heard *Heard, end func()) {
	t.Helper()
	h := &Heard{}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- engine.Watch(ctx, topic, h.add) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Watch: got %v, want nil", err)
		}
	})
	t.Cleanup(end)
	realtest.Eventually(t, "the watcher is told that it hears", func() bool { return h.Count("") == 1 })
	return h, end
}

func (h *Heard) add(message string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, message)
}

// All are the messages in the order of their arrival.
func (h *Heard) All() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.messages)
}

// Count tells how often message was heard; the empty one says that some may have been
// missed.
func (h *Heard) Count(message string) (count int) {
	for _, heard := range h.All() {
		if heard == message {
			count++
		}
	}
	return count
}

func messagesArrive(t *testing.T, open func(t *testing.T) (one, other storage.Engine)) {
	one, other := open(t)
	first, _ := Watch(t, one, "topic")
	second, _ := Watch(t, other, "topic")
	third, _ := Watch(t, one, "top")
	for i, by := range []storage.Engine{one, other, one} {
		if err := by.Notify(t.Context(), "topic", fmt.Sprint(i)); err != nil {
			t.Fatalf("Notify: %v", err)
		}
	}
	for _, heard := range []*Heard{first, second} {
		for i := range 3 {
			realtest.Eventually(t, "the message arrived", func() bool { return heard.Count(fmt.Sprint(i)) == 1 })
		}
	}
	if got := third.All(); len(got) != 1 {
		t.Errorf("of another topic: got %q, want nothing", got)
	}
}

func watchEnds(t *testing.T, open func(t *testing.T) (one, other storage.Engine)) {
	one, other := open(t)
	heard, end := Watch(t, one, "topic")
	end()
	if err := other.Notify(t.Context(), "topic", "late"); err != nil {
		t.Fatalf("Notify: %v", err)
	}
	again, _ := Watch(t, one, "topic")
	if err := other.Notify(t.Context(), "topic", "new"); err != nil {
		t.Fatalf("Notify: %v", err)
	}
	realtest.Eventually(t, "the message arrived", func() bool { return again.Count("new") == 1 })
	if got := heard.All(); len(got) != 1 {
		t.Errorf("after the end: got %q, want nothing", got)
	}
}

// slowWatcher has a watcher hear nothing for longer than any queue lasts. What it hears
// in the end is the last message, or that it missed some.
func slowWatcher(t *testing.T, open func(t *testing.T) (one, other storage.Engine)) {
	const many = 5000
	one, _ := open(t)
	busy, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	heard := &Heard{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- one.Watch(ctx, "topic", func(message string) {
			once.Do(func() { close(busy); <-release })
			heard.add(message)
		})
	}()
	<-busy
	for i := range many {
		if err := one.Notify(t.Context(), "topic", fmt.Sprint(i)); err != nil {
			t.Fatalf("Notify: %v", err)
		}
	}
	close(release)
	realtest.Eventually(t, "the last message is heard, or that some are missed", func() bool {
		return heard.Count("") > 1 || heard.Count(fmt.Sprint(many-1)) == 1
	})
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Watch: got %v, want nil", err)
	}
}
