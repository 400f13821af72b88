package cohort

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// many is more passes than a gate needs to change its mind.
const many = 100 * seldom

// with has f run on n processors.
func with(n int, f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	f()
}

// steps has eight goroutines on one processor take two steps each, g between them, and returns the order in which the steps were taken.
func steps(g *Gate) string {
	var mu sync.Mutex
	var order strings.Builder
	take := func(step byte) {
		mu.Lock()
		defer mu.Unlock()
		order.WriteByte(step)
	}
	with(1, func() {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				take('1')
				g.Pass()
				take('2')
			})
		}
		all.Wait()
	})
	return order.String()
}

func sureGate() *Gate {
	g := new(Gate)
	g.followed.Store(sure)
	return g
}

func TestStepIsTakenByAllBeforeTheNextOne(t *testing.T) {
	const want = "1111111122222222"
	for range 100 {
		if steps(sureGate()) == want {
			return
		}
	}
	t.Errorf("eight goroutines never took their steps in the order %s", want)
}

func TestCohortIsBounded(t *testing.T) {
	g := sureGate()
	var between, greatest atomic.Int32
	with(1, func() {
		var all sync.WaitGroup
		for range 4 * most {
			all.Go(func() {
				greatest.Store(max(greatest.Load(), between.Add(1)))
				g.Pass()
				between.Add(-1)
			})
		}
		all.Wait()
	})
	// Who looks, has come to a full gate, or is held up on its way to it, is between steps as well.
	if n := greatest.Load(); n > 2*most {
		t.Errorf("%d of %d requests were between two steps at once, want some %d", n, 4*most, most)
	}
}

func TestGateLearnsThatOthersFollow(t *testing.T) {
	var g Gate
	var learned atomic.Bool
	with(1, func() {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for n := 0; n < many && !learned.Load(); n++ {
					g.Pass()
					learned.CompareAndSwap(false, g.followed.Load() == sure)
					runtime.Gosched() // as a request does that waits
				}
			})
		}
		all.Wait()
	})
	if !learned.Load() {
		t.Errorf("a gate that four goroutines passed %d times each was never sure that others follow", many)
	}
}

func TestWhoFollowsHasComeSoon(t *testing.T) {
	for _, c := range []struct {
		passed     uint32
		processors int
		took       time.Duration
		want       bool
	}{
		{0, 1, 0, false},
		{1, 1, step, true},
		{1, 1, step + 1, false}, // other work has run
		{9, 1, 10 * time.Millisecond, false},
		{1, 2, 0, false}, // on the other processor
		{2, 2, 2 * step, true},
	} {
		if got := follow(c.passed, c.processors, c.took); got != c.want {
			t.Errorf("%d passed in %v, %d processors: got %v, want %v", c.passed, c.took, c.processors, got, c.want)
		}
	}
}

func TestNobodyWaitsAtAGateThatNobodyFollows(t *testing.T) {
	g := sureGate()
	with(1, func() {
		for range many {
			g.Pass()
		}
	})
	if n := g.followed.Load(); n != 0 {
		t.Errorf("one goroutine alone passed a gate %d times, which is sure by %d of %d that others follow", many, n, sure)
	}
}

func TestManyProcessorsFormNoCohorts(t *testing.T) {
	g := sureGate()
	with(processors+1, g.look)
	if n := g.followed.Load(); n != 0 {
		t.Errorf("with %d processors a gate is sure by %d of %d that others follow", processors+1, n, sure)
	}
}

func BenchmarkPass(b *testing.B) {
	for name, n := range map[string]int{"Alone": 1, "Abreast": 8} {
		b.Run(name, func(b *testing.B) {
			with(1, func() {
				var g Gate
				b.SetParallelism(n)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						g.Pass()
					}
				})
			})
		})
	}
}
