package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/relay"
	"berth/internal/storage"
	"berth/routing"
)

// restarts are upstreams that nobody can reach while they are away.
type restarts struct {
	up *tool
	b  *berth // whose calls come

	mu    sync.Mutex // guards the fields below
	away  []string
	tried int // in vain
}

// are has these be away, and returns how often others were tried in vain so far.
func (r *restarts) are(away ...string) (tried int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
	return r.tried
}

func (r *restarts) isAway(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.away, name) {
		return false
	}
	r.tried++
	return true
}

func (r *restarts) send(ctx context.Context, u *routing.Upstream, c *Call) (Exchange, error) {
	if r.isAway(u.Name) {
		return nil, &exchange.SendError{Err: errors.New("nobody listens")}
	}
	return r.up.send(ctx, r.b, u, c)
}

// A call that queues waits for an upstream that restarts, in the place that it has in its line, and is not told of as sent: its rule's
// time-out begins when it is.
func TestCallsThatQueueWaitForAnUpstreamThatRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &restarts{up: newTool(), away: []string{"u"}}
		b := startBerths(t, 1, settings{send: r.send, shared: true}, r.up)[0]
		r.b = b
		time.Sleep(2 * testLease)
		var ids []string
		for i := range 4 {
			ids = append(ids, b.hand(t, rule(queueing), fmt.Sprintf("call-%d result/1m", i)))
			synctest.Wait()
		}
		time.Sleep(11 * time.Minute)
		for i, id := range ids {
			if v := b.mustState(t, id, Queued); v.Place != i+1 || v.Round != 0 {
				t.Errorf("call %d is in place %d, in round %d", i, v.Place, v.Round)
			}
		}
		if tried := r.are(); tried < 100 || tried > 1000 {
			t.Errorf("tried %d times in 11 minutes", tried)
		}
		time.Sleep(5 * time.Second)
		for i, id := range ids {
			b.mustState(t, id, Dispatched)
			time.Sleep(time.Minute)
			b.mustState(t, id, Completed)
			if runs := r.up.executed[fmt.Sprintf("call-%d 0", i)]; runs != 1 {
				t.Errorf("call %d ran %d times", i, runs)
			}
		}
	})
}

// It goes to another upstream as soon as that has a place, at once if it has one.
func TestCallThatQueuesGoesWhereOneCanBeReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &restarts{up: newTool("one", "two"), away: []string{"two"}}
		b := startBerths(t, 1, settings{send: r.send, shared: true}, r.up)[0]
		r.b = b
		time.Sleep(2 * testLease)
		for i := range 3 {
			began := time.Now()
			id := b.hand(t, rule(queueing), "call result/1s")
			for b.see(t, id).State != Completed {
				time.Sleep(10 * time.Millisecond)
			}
			if took := time.Since(began); took > 1100*time.Millisecond {
				t.Errorf("call %d took %v", i, took)
			}
		}
		var ids []string
		for range 3 {
			ids = append(ids, b.hand(t, rule(queueing), "call result/10s"))
		}
		time.Sleep(36 * time.Second)
		for i, id := range ids {
			if v := b.mustState(t, id, Completed); v.Upstream != "one" {
				t.Errorf("call %d went to %s", i, v.Upstream)
			}
		}
	})
}

// What has come back into its line was not sent: it goes on at another berth once its own is dead, or goes.
func TestCallThatCameBackGoesOnAtAnotherBerth(t *testing.T) {
	for name, goes := range map[string]func(t *testing.T, b *berth){"dead": func(_ *testing.T, b *berth) { b.kill() }, "leaving": func(t *testing.T, b *berth) { b.leave(t) }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &restarts{up: newTool(), away: []string{"u"}}
				berths := startBerths(t, 2, settings{send: r.send}, r.up)
				b, other := berths[0], berths[1]
				r.b = other
				time.Sleep(2 * testLease)
				id := b.hand(t, rule(queueing), "call result")
				time.Sleep(time.Second)
				b.mustState(t, id, Queued)
				goes(t, b)
				r.are()
				time.Sleep(4 * testLease)
				other.mustState(t, id, Completed)
				if runs := r.up.executed["call 0"]; runs != 1 {
					t.Errorf("it ran %d times", runs)
				}
			})
		})
	}
}

// While all upstreams drain no call becomes a task. What queues already waits until one takes it, and no longer than the task lives.
func TestNoTaskIsMadeWhileAllUpstreamsDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := newTool()
		b := startBerths(t, 1, settings{shared: true}, up)[0]
		time.Sleep(2 * testLease)
		running := b.hand(t, rule(queueing), "running result/1m")
		synctest.Wait()
		queued := b.hand(t, rule(queueing), "queued result")
		short := b.hand(t, rule(func(r *Rule) { r.Concurrency, r.TTL = 1, 10*time.Minute }), "short result")
		b.drains(true)
		for _, r := range []*Rule{rule(nil), rule(queueing)} {
			if _, err := b.Maker.Create(t.Context(), creation(r, "call result")); !errors.Is(err, routing.ErrNoUpstream) {
				t.Errorf("a new call: %v", err)
			}
		}
		time.Sleep(9 * time.Minute)
		b.mustState(t, running, Completed)
		b.mustState(t, queued, Queued)
		time.Sleep(5 * time.Minute)
		if _, err := b.Reader.Get(t.Context(), short, somebody); err == nil {
			t.Error("a task outlives its ttl in the line")
		}
		b.drains(false)
		time.Sleep(5 * time.Second)
		b.mustState(t, queued, Completed)
		if up.count() != 2 {
			t.Errorf("%d calls were sent", up.count())
		}
	})
}

// drains has all upstreams of the berth drain, or none.
func (b *berth) drains(all bool) {
	pool, marks := b.runner.Pools.Get(poolName).Routing, map[string]routing.Drain{}
	for _, name := range pool.Names() {
		if all {
			marks[name] = routing.Drain{Since: time.Now()}
		}
	}
	pool.SetDrains(marks)
}

// A call whose way to its upstream leads over the store, as to a berth that holds what its client was asked there, waits for that: the
// upstream is not away.
func TestACallOnItsWayOverTheStoreWaitsForIt(t *testing.T) {
	for _, cause := range []error{storage.ErrUnavailable, relay.ErrBusy} {
		synctest.Test(t, func(t *testing.T) {
			up := newTool("one", "two")
			var b *berth
			var tried []string
			away := time.Now().Add(time.Minute)
			s := settings{shared: true, send: func(ctx context.Context, u *routing.Upstream, c *Call) (Exchange, error) {
				tried = append(tried, u.Name)
				if time.Now().Before(away) {
					return nil, &exchange.SendError{Err: fmt.Errorf("passed on: %w", cause)}
				}
				return up.send(ctx, b, u, c)
			}}
			b = startBerths(t, 1, s, up)[0]
			id := b.hand(t, rule(nil), "call result")
			time.Sleep(30 * time.Second)
			b.mustState(t, id, Dispatched)
			time.Sleep(time.Minute)
			synctest.Wait()
			slices.Sort(tried)
			if v := b.mustState(t, id, Completed); v.Round != 1 || len(slices.Compact(tried)) != 1 {
				t.Errorf("it was tried at %v, in %d rounds", tried, v.Round)
			}
		})
	}
}
