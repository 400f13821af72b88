//go:build linux

package load

import (
	"sync"
	"time"
)

// Pace has ops done at rate a second for the duration, by whichever connection is free. Latency counts from when an op
// was due.
func Pace(ops []Op, rate float64, duration time.Duration) (Result, error) {
	n := int(rate * duration.Seconds())
	due := make(chan time.Time, n) // has room for all: the clock waits for nobody
	var all gather
	var workers sync.WaitGroup
	for _, op := range ops {
		workers.Go(func() {
			w := &worker{op: op}
			for at := range due {
				if !w.run(at) {
					break
				}
			}
			all.add(w)
		})
	}
	start := time.Now()
	err := Tick(rate, n, func(at time.Time) { due <- at })
	close(due)
	workers.Wait()
	return all.end(time.Since(start)), err
}
