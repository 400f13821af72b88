package integration

import (
	"sync"
	"testing"
)

// crowd does f(0) … f(n-1), so many at a time, and waits for all; it begins no more
// once the test has failed. f must not end the test itself.
func crowd(t testing.TB, n, atOnce int, f func(i int)) {
	t.Helper()
	work := make(chan int)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for i := range work {
				f(i)
			}
		})
	}
	for i := range n {
		if t.Failed() {
			break
		}
		work <- i
	}
	close(work)
	workers.Wait()
}

// wantTasks polls each task once, some at a time, and fails the test for each that is
// not found.
func wantTasks(t testing.TB, client *modernClient, url string, ids []string, atOnce int) {
	t.Helper()
	crowd(t, len(ids), atOnce, func(i int) {
		got, err := client.poll(t, url, ids[i])
		if err != nil || got.Result.TaskID != ids[i] {
			t.Errorf("polling %s: got %v, %v, want the task", ids[i], got, err)
		}
	})
}

// askingAtOnce is how many polls may need the fleet to be asked at a time, lest berth
// turns some away until later.
const askingAtOnce = 4
