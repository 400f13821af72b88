package routing_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
	"berth/routing/health"
)

// probed is a pool of upstreams that can fall silent, for no probe gets through.
func probed(names ...string) *routing.Pool {
	return routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: upstreams(names...), Probe: mute})
}

// question is one that upstreams answer as the table says.
func question(key string, verdicts map[string]routing.Verdict) routing.Question {
	return routing.Question{Key: key, Ask: func(_ context.Context, u *routing.Upstream) routing.Verdict {
		return verdicts[u.Name]
	}}
}

// hangs is a question that nobody answers before its context ends.
func hangs(key string) routing.Question {
	return routing.Question{Key: key, Ask: func(ctx context.Context, _ *routing.Upstream) routing.Verdict {
		<-ctx.Done()
		return routing.Unclear
	}}
}

var errRefused = errors.New("refused")

// Unknown is what all deny. One who does not say keeps it open; one who refuses the
// credentials is told of unless another one denies, though not all have answered.
func TestOnlyAllCanDeny(t *testing.T) {
	const down = 5 * time.Minute
	type verdicts = map[string]routing.Verdict
	for name, c := range map[string]struct {
		verdicts verdicts
		silent   map[string]time.Duration // for how long
		want     error
		owner    string
	}{
		"all deny":                     {verdicts: verdicts{"a": routing.Denies, "b": routing.Denies, "c": routing.Denies}, want: routing.ErrDenied},
		"one errs":                     {verdicts: verdicts{"a": routing.Denies, "b": routing.Unclear, "c": routing.Denies}, want: routing.ErrUnclear},
		"one knows":                    {verdicts: verdicts{"a": routing.Denies, "b": routing.Unclear, "c": routing.Knows}, owner: "c"},
		"one is silent":                {verdicts: verdicts{"a": routing.Denies, "b": routing.Denies, "c": routing.Knows}, silent: map[string]time.Duration{"c": down - time.Second}, want: routing.ErrUnclear},
		"one is gone":                  {verdicts: verdicts{"a": routing.Denies, "b": routing.Denies, "c": routing.Knows}, silent: map[string]time.Duration{"c": down}, want: routing.ErrDenied},
		"one is gone, the others err":  {verdicts: verdicts{}, silent: map[string]time.Duration{"c": down}, want: routing.ErrUnclear},
		"all are gone":                 {verdicts: verdicts{}, silent: map[string]time.Duration{"a": down, "b": down, "c": down}, want: routing.ErrUnclear},
		"all refuse":                   {verdicts: verdicts{"a": routing.Refuses(errRefused), "b": routing.Refuses(errRefused), "c": routing.Refuses(errRefused)}, want: errRefused},
		"one refuses, the others err":  {verdicts: verdicts{"b": routing.Refuses(errRefused)}, want: errRefused},
		"one refuses, one is silent":   {verdicts: verdicts{"a": routing.Refuses(errRefused), "b": routing.Refuses(errRefused)}, silent: map[string]time.Duration{"c": time.Second}, want: errRefused},
		"one refuses, the others deny": {verdicts: verdicts{"a": routing.Denies, "b": routing.Refuses(errRefused), "c": routing.Denies}, want: routing.ErrUnclear},
		"one refuses, one knows":       {verdicts: verdicts{"a": routing.Refuses(errRefused), "b": routing.Knows, "c": routing.Denies}, owner: "b"},
		"one knows though one is gone": {verdicts: verdicts{"a": routing.Knows}, silent: map[string]time.Duration{"c": down}, owner: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := probed("a", "b", "c")
				longest := time.Duration(0)
				for since := range maps.Values(c.silent) {
					longest = max(longest, since)
				}
				for name := range c.silent {
					p.FellSilent(p.Find(name), errBroken)
				}
				time.Sleep(longest)
				u, err := routing.NewAsker(p).Ask(t.Context(), question("id", c.verdicts))
				if !errors.Is(err, c.want) || u != p.Find(c.owner) {
					t.Errorf("Ask: got %v, %v, want %q, %v", u, err, c.owner, c.want)
				}
			})
		})
	}
}

// A request that broke long ago, on a connection perhaps that was reset, must not
// keep its upstream from being asked: it may hold the task.
func TestUpstreamThatFailedOnceIsAskedStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := probed("a", "b")
		p.Failed(p.Find("b"), health.FailedConnect, errBroken)
		time.Sleep(10 * time.Minute)
		u, err := routing.NewAsker(p).Ask(t.Context(), question("id", map[string]routing.Verdict{"a": routing.Denies, "b": routing.Knows}))
		if err != nil || u.Name != "b" {
			t.Errorf("Ask: got %v, %v, want b", u, err)
		}
	})
}

func TestCallersWithOneKeyShareAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf("a", "b")
		asker := routing.NewAsker(p)
		var asked atomic.Int64
		ask := func(_ context.Context, u *routing.Upstream) routing.Verdict {
			asked.Add(1)
			time.Sleep(100 * time.Millisecond)
			if u.Name == "b" {
				return routing.Knows
			}
			return routing.Denies
		}
		var calling sync.WaitGroup
		for i := range 50 {
			calling.Go(func() {
				u, err := asker.Ask(t.Context(), routing.Question{Key: fmt.Sprint(i % 2), Ask: ask})
				if err != nil || u.Name != "b" {
					t.Errorf("Ask: got %v, %v, want b", u, err)
				}
			})
		}
		calling.Wait()
		if got := asked.Load(); got != 4 {
			t.Errorf("two upstreams were asked for two keys by fifty callers: got %d questions, want 4", got)
		}
	})
}

func TestAQuestionDoesNotEndWithTheFirstWhoAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := routing.NewAsker(poolOf("a"))
		q := routing.Question{Key: "id", Ask: func(ctx context.Context, _ *routing.Upstream) routing.Verdict {
			select {
			case <-ctx.Done():
				return routing.Unclear
			case <-time.After(time.Second):
				return routing.Knows
			}
		}}
		ctx, leave := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() {
			_, err := asker.Ask(ctx, q)
			first <- err
		}()
		synctest.Wait()
		second := make(chan error, 1)
		go func() {
			_, err := asker.Ask(t.Context(), q)
			second <- err
		}()
		synctest.Wait()
		leave()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the first: got %v, want Canceled", err)
		}
		if err := <-second; err != nil {
			t.Errorf("the second: got %v, want the owner", err)
		}
	})
}

func TestFoundEndsAtOnceAndCancelsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		cancelled := make(chan struct{})
		u, err := routing.NewAsker(poolOf("a", "b")).Ask(t.Context(), routing.Question{Key: "id", Ask: func(ctx context.Context, u *routing.Upstream) routing.Verdict {
			if u.Name == "a" {
				return routing.Knows
			}
			<-ctx.Done()
			close(cancelled)
			return routing.Unclear
		}})
		if err != nil || u.Name != "a" || time.Since(begun) != 0 {
			t.Errorf("Ask: got %v, %v after %v, want a at once", u, err, time.Since(begun))
		}
		synctest.Wait()
		select {
		case <-cancelled:
		default:
			t.Error("the other question goes on")
		}
	})
}

// A question that does not end with its context keeps neither the answer nor,
// for ever, the pool from being asked: it costs its slot as long as it lasts.
func TestAStuckQuestionHoldsUpNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asker := routing.NewAsker(poolOf("a", "b"))
		stuck := make(chan struct{})
		ask := func(_ context.Context, u *routing.Upstream) routing.Verdict {
			if u.Name == "b" {
				<-stuck
			}
			return routing.Knows
		}
		for i := range 4 {
			begun := time.Now()
			u, err := asker.Ask(t.Context(), routing.Question{Key: fmt.Sprint(i), Ask: ask})
			if err != nil || u.Name != "a" || time.Since(begun) > time.Second {
				t.Errorf("Ask: got %v, %v after %v, want a soon", u, err, time.Since(begun))
			}
		}
		if _, err := asker.Ask(t.Context(), question("next", nil)); !errors.Is(err, routing.ErrBusy) {
			t.Errorf("with four stuck: got %v, want ErrBusy", err)
		}
		close(stuck)
		synctest.Wait()
		if _, err := asker.Ask(t.Context(), question("next", map[string]routing.Verdict{"a": routing.Knows})); err != nil {
			t.Errorf("with none stuck: got %v", err)
		}
	})
}
