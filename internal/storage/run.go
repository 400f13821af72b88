package storage

import (
	"context"
	"sync"
	"time"
)

// probeInterval is how often Run asks for a sign of life, and which servers hold the
// keys. Together with the time that a breaker stays open it bounds how late a
// recovery is noticed.
const probeInterval = 250 * time.Millisecond

// Run probes a shared store until ctx ends, and then returns nil. Without it a store
// heals only by traffic and OnRecover is not called. Call it once.
func (s *Store) Run(ctx context.Context) error {
	var running sync.WaitGroup
	if s.shared {
		running.Go(func() { s.probe(ctx) })
	}
	running.Go(func() { s.tell(ctx) })
	running.Go(func() { s.watchEviction(ctx) })
	running.Wait()
	return nil
}

// probe pings at once and then regularly. What a ping finds is health's to know.
func (s *Store) probe(ctx context.Context) {
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	for {
		_ = s.Ping(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tell calls the hooks after each recovery. A recovery during the calls is told
// once they are over.
func (s *Store) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.health.recovered:
			for _, hook := range s.registered() {
				hook()
			}
		}
	}
}

func (s *Store) registered() []func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hooks[:len(s.hooks):len(s.hooks)]
}

// OnRecover registers a function that is called whenever the store becomes healthy
// after an outage. The functions run one after another in a goroutine of Run's,
// which waits for them; they do not hold up the probing. Register before Run.
func (s *Store) OnRecover(hook func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, hook)
}
