package command

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"berth/internal/config"
)

// A part is one for all generations that use it: it begins once, and ends with the last of them.
func TestPartsEndWithTheLastGenerationThatUsesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{parts: newParts()}
		var told []string
		made := func() (*int, life, error) {
			return new(int), life{
				run: func(ctx context.Context) error {
					told = append(told, "runs")
					<-ctx.Done()
					told = append(told, "ran")
					return nil
				},
				end: func(context.Context) { told = append(told, "ended") },
			}, nil
		}
		one, two := &generation{site: s}, &generation{site: s}
		a, _ := share(one, "key", made)
		ctx, stop := context.WithCancel(t.Context())
		s.parts.begin(ctx)
		b, _ := share(two, "key", made)
		s.parts.beginNew()
		synctest.Wait()
		if a != b || len(told) != 1 {
			t.Errorf("the same part: %v, which %v", a == b, told)
		}
		one.drop()
		if len(told) != 1 {
			t.Errorf("with one generation left: %v", told)
		}
		two.drop()
		synctest.Wait()
		if len(told) != 3 || told[2] != "ended" {
			t.Errorf("with none left: %v", told)
		}
		three := &generation{site: s}
		if c, _ := share(three, "key", made); c == a {
			t.Error("a part that has ended is used")
		}
		s.parts.beginNew()
		synctest.Wait()
		stop()
		s.parts.wait()
		s.parts.close()
		if len(told) != 6 {
			t.Errorf("at the end of the process: %v", told)
		}
		three.drop()
	})
}

// A generation that cannot be made leaves nothing in use.
func TestPartsOfAGenerationThatFailsAreDropped(t *testing.T) {
	g := &generation{site: &site{parts: newParts()}}
	broken := errors.New("broken")
	_, _ = share(g, "good", func() (int, life, error) { return 1, life{}, nil })
	if _, err := share(g, "bad", func() (int, life, error) { return 0, life{}, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	g.drop()
	if left := g.site.parts.all; len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

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
	if len(s.parts.all) > 0 {
		t.Errorf("left: %v", s.parts.all)
	}
}

// Whoever has joined a generation has it to the end, and nobody joins one that has ended.
func TestAGenerationEndsWithItsLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &generation{site: &site{parts: newParts()}}
		g.users.Store(1)
		ended := false
		_, _ = share(g, "key", func() (int, life, error) { return 0, life{end: func(context.Context) { ended = true }}, nil })
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
