package ledger

import (
	"maps"
	"slices"
	"sync"
)

// Watcher wakes up one who waits for several tasks, and says which of them to look at.
// Wake-ups may be lost between berths: look at the poll interval, too.
type Watcher struct {
	// Woken holds a wake-up while Take has something to return.
	Woken <-chan struct{}

	woken chan struct{} // Woken
	stops []func()

	mu  sync.Mutex // guards the field below
	due map[string]bool
}

// WatchAll watches tasks. Stop the watcher when nobody waits any more.
func (n *Notices) WatchAll(ids []string) *Watcher {
	woken := make(chan struct{}, 1)
	w := &Watcher{Woken: woken, woken: woken, due: map[string]bool{}}
	for _, id := range ids {
		w.stops = append(w.stops, n.call(id, func() { w.note(id) }))
	}
	return w
}

func (w *Watcher) note(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due[id] = true
	Signal(w.woken)
}

// Take returns the tasks that may have changed since it was called last.
func (w *Watcher) Take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := slices.Collect(maps.Keys(w.due))
	clear(w.due)
	return ids
}

// Stop ends the wake-ups.
func (w *Watcher) Stop() {
	for _, stop := range w.stops {
		stop()
	}
}
