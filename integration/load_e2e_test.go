//go:build e2e

package integration

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load is polling that goes on while something befalls the deployment.
type load struct {
	stop    chan struct{}
	once    sync.Once // closes stop
	workers sync.WaitGroup
	polled  atomic.Int64
	held    held // the most that was held meanwhile
}

// pollPause is how long each client waits between two polls: the fault is to be seen,
// not the machine's limit.
const pollPause = 10 * time.Millisecond

// startLoad lets clients poll tasks one after another until end, or the test's. The test fails for
// each poll that does not find its task.
func startLoad(t testing.TB, client *modernClient, b *watched, ids []string, clients int) *load {
	t.Helper()
	l := &load{stop: make(chan struct{})}
	t.Cleanup(l.wait)
	for worker := range clients {
		l.workers.Go(func() {
			l.repeat(func(i int) {
				id := ids[(worker+i*clients)%len(ids)]
				got, err := client.poll(t, b.url(), id)
				if err != nil || got.Result.TaskID != id {
					t.Errorf("polling %s: got %v, %v, want the task", id, got, err)
				}
				l.polled.Add(1)
			})
		})
	}
	l.workers.Go(func() {
		l.repeat(func(int) {
			now := b.held(t)
			l.held.goroutines = max(l.held.goroutines, now.goroutines)
			l.held.files = max(l.held.files, now.files)
		})
	})
	return l
}

func (l *load) repeat(f func(i int)) {
	pause := time.NewTicker(pollPause)
	defer pause.Stop()
	for i := 0; ; i++ {
		select {
		case <-l.stop:
			return
		case <-pause.C:
			f(i)
		}
	}
}

// goOn lets the load go on for a while.
func (l *load) goOn(while time.Duration) { <-time.After(while) }

// wait stops the load and waits for its last polls.
func (l *load) wait() {
	l.once.Do(func() { close(l.stop) })
	l.workers.Wait()
}

// end does the same and logs what there was.
func (l *load) end(t testing.TB) {
	t.Helper()
	l.wait()
	t.Logf("%d polls; at most %v meanwhile", l.polled.Load(), l.held)
}
