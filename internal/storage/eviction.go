package storage

import (
	"context"
	"errors"
	"sync"
	"time"
)

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
func (r *redisEngine) policy(ctx context.Context) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, r.bound)
	defer cancel()
	memory, err := serverInfo(bounded, r.client, "memory")
	if err != nil {
		return "", r.fail(ctx, opInfo, err)
	}
	if policy, told := memory["maxmemory_policy"]; told {
		return policy, nil
	}
	return "", errNoPolicy
}
