package site

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"berth/internal/config"
	"berth/internal/parts"
)

// What a file names that cannot be used is told by its key, and leaves nothing in use.
func TestAGenerationThatCannotBeMadeNamesTheKey(t *testing.T) {
	cfg := config.Default()
	for range 2 {
		cfg.Pools = append(cfg.Pools, config.DefaultPool())
	}
	cfg.Pools[1].Authorization, cfg.Pools[1].AuthorizationValueFile = config.AuthorizationReplace, "/nowhere/value"
	s := generationOf(cfg.Auth).site
	_, err := s.newGeneration(cfg)
	if keyed, ok := errors.AsType[*keyedError](err); !ok || keyed.key != "pools[1].authorization_value_file" {
		t.Errorf("got %v", err)
	}
	gone := false
	if _, _ = share(&generation{site: s}, "pool "+cfg.Pools[0].Name, func() (pool, parts.Life, error) { gone = true; return pool{}, parts.Life{}, nil }); !gone {
		t.Error("a pool of it is left")
	}
}

// Whoever has joined a generation has it to the end, and nobody joins one that has ended.
func TestAGenerationEndsWithItsLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &generation{site: &Site{parts: parts.New()}}
		g.users.Store(1)
		ended := false
		_, _ = share(g, "key", func() (int, parts.Life, error) {
			return 0, parts.Life{End: func(context.Context) { ended = true }}, nil
		})
		if !g.join() {
			t.Fatal("the newest cannot be joined")
		}
		g.leave() // it is not the newest any more
		synctest.Wait()
		if ended {
			t.Fatal("it ended under a request")
		}
		g.leave()
		synctest.Wait()
		if !ended || g.join() {
			t.Errorf("ended: %v, and is joined", ended)
		}
	})
}
