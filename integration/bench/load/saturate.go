package load

import (
	"sync"
	"time"
)

// Saturate repeats each op for the duration, without a pause.
func Saturate(ops []Op, duration time.Duration) Result {
	var all gather
	var workers sync.WaitGroup
	start := time.Now()
	end := start.Add(duration)
	for _, op := range ops {
		workers.Go(func() {
			w := &worker{op: op}
			for due := time.Now(); due.Before(end) && w.run(due); due = time.Now() {
			}
			all.add(w)
		})
	}
	workers.Wait()
	return all.end(time.Since(start))
}
