package series

import (
	"sync"
	"testing"
)

func TestATallyCountsByWord(t *testing.T) {
	var tally Tally
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				tally.Add("memory")
				tally.Add("streams")
			}
		})
	}
	all.Wait()
	if got := tally.Of("memory", "streams", "calls"); got != 800 {
		t.Errorf("got %d, want 800", got)
	}
	var none *Tally
	none.Add("memory")
	if none.Of("memory") != 0 {
		t.Error("a nil tally counts")
	}
}
