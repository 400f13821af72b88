package storage

import (
	"context"
	"errors"
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

const (
	// policyEvery is how often the server is asked whether it drops keys: who runs it
	// may change that at any time.
	policyEvery = time.Minute

	policyRetry = time.Second

	// keepsAll is the one policy under which a server drops nothing that has not
	// expired. All others drop keys with an expiry, which all of berth's have.
	keepsAll = "noeviction"
)

// errNoPolicy says that the server told of no policy: it may be of another make.
var errNoPolicy = errors.New("storage: no maxmemory_policy in the server's INFO")

type evictor interface {
	// policy names the rule by which it does.
	policy(ctx context.Context) (string, error)
}

type eviction struct {
	mu     sync.Mutex // guards policy
	policy string     // "" as long as nothing is known
}

func (e *eviction) set(policy string) (before string, changed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	before, e.policy = e.policy, policy
	return before, before != policy
}

func (e *eviction) evicts() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.policy == keepsAll {
		return ""
	}
	return e.policy
}

// watchEviction asks the server for its rule until ctx ends. A dropped binding is an
// unknown id: a task that lives would be called unknown.
func (s *Store) watchEviction(ctx context.Context) {
	server, ok := s.engine.(evictor)
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

// askPolicy asks for the rule once. It reports false if the server may say another time:
// one that refuses to, or does not know, will not.
func (s *Store) askPolicy(ctx context.Context, server evictor) bool {
	policy, err := server.policy(ctx)
	if err == nil {
		s.notePolicy(policy)
	}
	f, failed := errors.AsType[*fault](err)
	return !failed || f.refusal
}

// notePolicy logs changes. A rule that is as it should be is worth a line only where it
// was not before.
func (s *Store) notePolicy(policy string) {
	before, changed := s.health.eviction.set(policy)
	switch {
	case !changed:
	case policy != keepsAll:
		s.health.log.Warn("the store drops bindings when its memory is full", "maxmemory-policy", policy)
	case before != "":
		s.health.log.Info("the store keeps all bindings again")
	}
}

// policy implements evictor. INFO is allowed where CONFIG is not, on hosted servers
// above all.
func (r *redisEngine) policy(ctx context.Context) (policy string, err error) {
	told := false
	err = r.ask(ctx, opInfo, func(ctx context.Context) error {
		memory, err := serverInfo(ctx, r.client, "memory")
		policy, told = memory["maxmemory_policy"]
		return err
	})
	if err == nil && !told {
		err = errNoPolicy
	}
	return policy, err
}
