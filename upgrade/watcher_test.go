package upgrade

import (
	"slices"
	"testing"
)

// A watcher says which of its tasks to look at, each once, and nothing after its end.
func TestWatcherSaysWhatChanged(t *testing.T) {
	tasks := &Tasks{hub: newHub()}
	w := tasks.WatchAll([]string{"a", "b", "c"})
	for _, id := range []string{"a", "c", "a", "another"} {
		tasks.hub.wake(id)
	}
	<-w.Woken
	if got := slices.Sorted(slices.Values(w.Take())); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("got %v, want a and c", got)
	}
	tasks.hub.wakeAll()
	<-w.Woken
	if got := w.Take(); len(got) != 3 {
		t.Errorf("got %v, want all", got)
	}
	w.Stop()
	tasks.hub.wakeAll()
	if got := w.Take(); len(got) != 0 || len(tasks.hub.watchers) != 0 {
		t.Errorf("got %v of %v after the end", got, tasks.hub.watchers)
	}
}
