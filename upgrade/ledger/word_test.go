package ledger

import (
	"testing"
	"time"
)

// The lease of a berth of another version, which says nothing, is a lease.
func TestLeaseWithoutAWord(t *testing.T) {
	for _, value := range []string{"", "holder", "holder 1", "holder a b", "holder 1 2 3"} {
		if w, ok := DecodeWord([]byte(value)); ok {
			t.Errorf("%q: got %v", value, w)
		}
	}
	now := time.Now().Truncate(time.Millisecond)
	if w, ok := DecodeWord(Word{now.Add(-time.Hour), now}.encode("holder", time.Second)); !ok || !w.Said.Equal(now) || !w.Since.Equal(now.Add(-time.Hour)) {
		t.Errorf("got %v, %v", w, ok)
	}
}
