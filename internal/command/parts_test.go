package command

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
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
				end: func() { told = append(told, "ended") },
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

// Whoever has joined a generation has it to the end, and nobody joins one that has ended.
func TestAGenerationEndsWithItsLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &generation{site: &site{parts: newParts()}}
		g.users.Store(1)
		ended := false
		_, _ = share(g, "key", func() (int, life, error) { return 0, life{end: func() { ended = true }}, nil })
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
