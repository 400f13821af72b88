package ledger

import (
	"slices"
	"testing"
)

// A watcher says which of its tasks to look at, each once, and nothing after its end.
func TestWatcherSaysWhatChanged(t *testing.T) {
	n := newNotices(nil, "", nil, nil)
	w := n.WatchAll([]string{"a", "b", "c"})
	for _, id := range []string{"a", "c", "a", "another"} {
		n.Wake(id)
	}
	<-w.Woken
	if got := slices.Sorted(slices.Values(w.Take())); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("got %v, want a and c", got)
	}
	n.WakeAll()
	<-w.Woken
	if got := w.Take(); len(got) != 3 {
		t.Errorf("got %v, want all", got)
	}
	w.Stop()
	n.WakeAll()
	if got := w.Take(); len(got) != 0 || len(n.watchers) != 0 {
		t.Errorf("got %v of %v after the end", got, n.watchers)
	}
}
