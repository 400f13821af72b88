package load

import (
	"sync"
	"sync/atomic"
	"time"
)

// Count does ops until they were done n times in all, each as often as it gets to it.
func Count(ops []Op, n int) Result {
	var all gather
	var workers sync.WaitGroup
	var begun atomic.Int64
	start := time.Now()
	for _, op := range ops {
		workers.Go(func() {
			w := &worker{op: op}
			for begun.Add(1) <= int64(n) && w.run(time.Now()) {
			}
			all.add(w)
		})
	}
	workers.Wait()
	return all.end(time.Since(start))
}
