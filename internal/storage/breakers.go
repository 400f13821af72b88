package storage

import (
	"context"
	"sync"
	"time"
)

// parted is an Engine whose keys live on several servers, each of which can be away
// while the others are not.
type parted interface {
	Engine

	// part names the server that holds key, as far as this process knows; empty if it
	// does not. It asks nobody.
	part(key string) string

	parts(ctx context.Context) (map[string]func(context.Context) error, error)
}

// breakers are those of one store: one for each server that holds keys, so that a
// server that does not answer costs its own keys only. A store on a single server
// has one, without a name.
type breakers struct {
	health  *health
	traffic traffic

	mu     sync.Mutex // guards the field below
	byPart map[string]*breaker
}

type traffic struct {
	connections int
	timeout     time.Duration // for an answer
}

func newBreakers(h *health, t traffic) *breakers {
	return &breakers{health: h, traffic: t, byPart: make(map[string]*breaker)}
}

func (b *breakers) of(part string) *breaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	one, ok := b.byPart[part]
	if !ok {
		one = newBreaker(b.health, b.traffic, b.closed)
		b.byPart[part] = one
	}
	return one
}

// keep forgets all but these parts: a server that was replaced, or was asked before
// anybody knew who holds what, is no outage any more.
func (b *breakers) keep(parts map[string]func(context.Context) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for part := range b.byPart {
		if _, ok := parts[part]; !ok {
			delete(b.byPart, part)
		}
	}
}

func (b *breakers) closed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.byPart {
		if !one.closed() {
			return false
		}
	}
	return true
}
