package fresh

import (
	"sync"
	"testing"
)

func TestNobodyIsGivenWhatAnotherHas(t *testing.T) {
	m := New[int](8)
	var all sync.Map
	var takers sync.WaitGroup
	for range 4 {
		takers.Go(func() {
			for range 1000 {
				n := m.Next()
				if *n++; *n != 1 {
					t.Errorf("given %d times", *n)
				}
				if _, had := all.LoadOrStore(n, true); had {
					t.Error("given twice")
				}
			}
		})
	}
	takers.Wait()
}

func TestABatchIsOneAllocation(t *testing.T) {
	m := New[[4]int](8)
	if n := testing.AllocsPerRun(100, func() {
		for range 8 {
			m.Next()
		}
	}); n > 8 { // the race detector has pools forget
		t.Errorf("got %v allocations for eight", n)
	}
}
