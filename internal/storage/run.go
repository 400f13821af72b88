package storage

import (
	"context"
	"errors"
	"sync"
	"time"

	"berth/internal/storage/engine"
)

// probeInterval, with the time that a breaker stays open, bounds how late a recovery is noticed.
const probeInterval = 250 * time.Millisecond

// Run probes a shared store until ctx ends, and returns nil. Without it a store heals by traffic
// only, and OnRecover is not called. Call it once.
func (s *Store) Run(ctx context.Context) error {
	var running sync.WaitGroup
	if s.shared {
		running.Go(func() { s.probe(ctx) })
	}
	if mover, ok := s.engine.(engine.Mover); ok {
		running.Go(func() { mover.Moves(ctx, s.health.Replaced) })
	}
	running.Go(func() { s.tell(ctx) })
	running.Go(func() { s.watchEviction(ctx) })
	running.Wait()
	return nil
}

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

// tell calls the hooks after each recovery, and as another server comes to serve, those during the calls together.
func (s *Store) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.health.Recovered:
			s.mu.Lock()
			hooks := s.hooks
			s.mu.Unlock()
			for _, hook := range hooks {
				hook()
			}
		}
	}
}

// OnRecover registers a function to be called whenever the store is healthy again, or another server serves in its place, one after
// another, by a goroutine of Run's that does not hold up the probing. Register before Run.
func (s *Store) OnRecover(hook func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, hook)
}

const (
	// policyEvery: who runs the server may change at any time whether it drops keys.
	policyEvery = time.Minute

	policyRetry = time.Second
)

// watchEviction asks for the server's rule until ctx ends: a task whose binding was dropped would
// be called unknown.
func (s *Store) watchEviction(ctx context.Context) {
	server, ok := s.engine.(engine.Evictor)
	if !ok {
		return
	}
	for {
		wait := policyRetry
		if s.Healthy() && s.askPolicy(ctx, server) {
			wait = policyEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// askPolicy reports false if the server may say another time. One that refuses to will not.
func (s *Store) askPolicy(ctx context.Context, server engine.Evictor) bool {
	policy, err := server.Policy(ctx)
	if err == nil {
		s.notePolicy(policy)
	}
	f, failed := errors.AsType[*engine.Fault](err)
	return !failed || f.Refusal
}

// notePolicy logs changes; a rule that is as it should be only after another.
func (s *Store) notePolicy(policy string) {
	before := s.health.SetPolicy(policy)
	switch {
	case policy == before:
	case policy != engine.KeepsAll:
		s.health.Log.Warn("the store drops bindings when its memory is full", "maxmemory-policy", policy)
	case before != "":
		s.health.Log.Info("the store keeps all bindings again")
	}
}
