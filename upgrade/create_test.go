package upgrade

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/engine"
	"berth/routing"
	"berth/upgrade/ledger"
)

// What a store does to a creation is told before anything is sent, and nothing is left of
// it once the store is back.
func TestCreationWithoutTheStore(t *testing.T) {
	for name, spoil := range map[string]func(l *line){
		"down":             func(l *line) { l.cut() },
		"a write refused":  func(l *line) { l.refuse(func(op, _ string) bool { return op == "make" }) },
		"no list":          func(l *line) { l.refuse(func(op, _ string) bool { return op == "keep" }) },
		"a write unheard":  func(l *line) { l.mutes(1) },
		"all unheard":      func(l *line) { l.mutes(1000) },
		"the call refused": func(l *line) { l.refuse(func(op, _ string) bool { return op == "put" }) },
	} {
		for _, atOnce := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, at once %t", name, atOnce), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { createWithoutTheStore(t, atOnce, spoil) })
			})
		}
	}
}

func createWithoutTheStore(t *testing.T, atOnce bool, spoil func(l *line)) {
	up := newTool()
	b := startBerths(t, 1, settings{shared: true}, up)[0]
	time.Sleep(testLease / 2)
	spoil(b.line)
	c := creation(rule(func(r *Rule) { r.LivePerPrincipal = 1 }), "call result")
	c.AtOnce = atOnce
	if _, err := b.Maker.Create(t.Context(), c); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	if up.count()+b.Held()+b.underWay() > 0 {
		t.Error("something was sent, or is held")
	}
	b.line.refuse(nil)
	b.line.mutes(0)
	b.line.mend()
	time.Sleep(2 * testLease)
	lists := b.ledger.Lists
	for _, list := range []string{lists.TasksOf(b.ledger.Holder), lists.LiveOf(poolName, "alice"), lists.MadeBy(poolName, "alice")} {
		if left := b.members(t, list); len(left) > 0 {
			t.Errorf("%s still has %v", list, left)
		}
	}
}

// slow is a store whose operations take a while.
type slow struct {
	*line
	takes time.Duration
}

func (s slow) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (storage.Record, bool, error) {
	ctx, cancel := engine.Begun(ctx)
	defer cancel()
	select {
	case <-time.After(s.takes):
		return s.line.PutIfAbsent(ctx, key, value, ttl)
	case <-ctx.Done():
		return storage.Record{}, false, ctx.Err()
	}
}

func (s slow) InOrder(ctx context.Context, steps ...storage.Step) (int, storage.Record, error) {
	return storage.OneByOne(ctx, s, steps)
}

// evicting is a store that drops keys when its memory is full.
type evicting struct{ *line }

func (e evicting) Health() storage.Health {
	h := e.line.Health()
	h.Evicts = "allkeys-lru"
	return h
}

// onePool is a pool of one upstream, that nothing is sent to.
func onePool() []Destination {
	upstreams := []*routing.Upstream{{Name: "u", URL: &url.URL{}}}
	return []Destination{{Routing: routing.NewPool(routing.PoolOptions{Name: poolName, Upstreams: upstreams})}}
}

// unasked is a store that nobody has heard of yet.
type unasked struct{ *line }

func (unasked) Health() storage.Health { return storage.Health{} }

// The first calls of a berth that has just started came back plain: its store had not been
// asked for a sign of life yet.
func TestStoreThatWasNotAskedYetIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := newTasks(Options{Keys: givenKeys(t), Pools: onePool()}, unasked{newLine(newCell(memory(t)), true)})
		if err := tasks.ledger.Lease.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		h, err := tasks.Maker.Create(t.Context(), creation(rule(nil), "call result"))
		if err != nil {
			t.Fatalf("got %v, want a task", err)
		}
		h.Discard()
		synctest.Wait()
	})
}

func TestCreationIsBoundedAndNeedsAStoreThatKeeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newCell(memory(t))
		l := newLine(at, true)
		for name, s := range map[string]ledger.Store{"slow": slow{l, time.Second}, "evicting": evicting{l}} {
			tasks := newTasks(Options{Keys: givenKeys(t), Pools: onePool()}, s)
			if err := tasks.ledger.Lease.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if _, err := tasks.Maker.Create(t.Context(), creation(rule(nil), "call result")); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("%s: got %v, want ErrUnavailable", name, err)
			}
			if took := time.Since(began); took > createTime {
				t.Errorf("%s: took %v", name, took)
			}
		}
	})
}

func TestLiveTasksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		r := rule(func(r *Rule) { r.LivePerPrincipal = 2 })
		first := b.hand(t, r, "one hang")
		b.hand(t, r, "two ask:k result")
		synctest.Wait()
		refused := func(c Creation) bool {
			h, err := b.Maker.Create(t.Context(), c)
			if err == nil {
				h.Start(nil)
			}
			return errors.Is(err, ErrTooMany)
		}
		if !refused(creation(r, "three hang")) {
			t.Error("a third task was made")
		}
		other := creation(r, "four hang")
		other.Principal = "bob"
		nobody := creation(r, "five hang")
		nobody.Principal = ""
		if refused(other) || refused(nobody) {
			t.Error("another principal was refused, or who has none")
		}
		if _, err := b.Steps.Cancel(t.Context(), first, somebody); err != nil {
			t.Fatal(err)
		}
		if refused(creation(r, "six hang")) {
			t.Error("refused though one has ended")
		}
	})
}

// Who died while it made a task has left an entry that stands for nothing, as one does for a moment that is being made.
func TestGhostsAreNotCountedAsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		r := rule(func(r *Rule) { r.LivePerPrincipal = 2 })
		for _, ghost := range []string{"one", "two"} {
			if err := b.ledger.Lists.Add(t.Context(), b.ledger.Lists.LiveOf(poolName, "alice"), ghost, time.Hour, 0); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if _, err := b.Maker.Create(t.Context(), creation(r, "call result")); !errors.Is(err, ErrTooMany) {
				t.Fatalf("beside two that may be on their way: got %v", err)
			}
			time.Sleep(20 * time.Second)
		}
		b.hand(t, r, "call result")
	})
}

// What is being made counts: whoever comes meanwhile does not take it for what a crash has left.
func TestTasksOnTheirWayAreCountedAsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		b.line.lag(func() time.Duration { return 10 * time.Millisecond })
		r := rule(func(r *Rule) { r.LivePerPrincipal = 2 })
		good := madeAtOnce(t, b, 20, func(int) Creation { return creation(r, "call hang") })
		if good != 2 {
			t.Errorf("%d were made, want 2", good)
		}
	})
}

func TestProcessHoldsSoManyAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{}, newTool())[0]
		r := rule(func(r *Rule) { r.LivePerProcess = 3 })
		good := madeAtOnce(t, b, 10, func(i int) Creation {
			c := creation(r, "call hang")
			c.Caller = fmt.Sprint("caller ", i%5)
			return c
		})
		if good != 3 || b.Held() != 3 {
			t.Errorf("%d were made, %d are held, want 3", good, b.Held())
		}
	})
}

// madeAtOnce is how many of n tasks are made whose creations come at once; the others are too many.
func madeAtOnce(t *testing.T, b *berth, n int, ith func(i int) Creation) (good int) {
	made := make(chan error, n)
	for i := range n {
		go func() {
			h, err := b.Maker.Create(context.Background(), ith(i))
			if err == nil {
				h.Start(nil)
			}
			made <- err
		}()
	}
	for range n {
		switch err := <-made; {
		case err == nil:
			good++
		case !errors.Is(err, ErrTooMany):
			t.Error(err)
		}
	}
	return good
}

// hasty is a store that serves others all the time, and is late with the first answer to
// each write.
type hasty struct {
	*line
	late map[string]bool
}

func (h hasty) Health() storage.Health {
	health := h.line.Health()
	health.Answered = time.Now()
	return health
}

func (h hasty) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (storage.Record, bool, error) {
	if h.late[key] {
		return h.line.PutIfAbsent(ctx, key, value, ttl)
	}
	h.late[key] = true
	return slow{h.line, time.Second}.PutIfAbsent(ctx, key, value, ttl)
}

// A single answer that is late makes no call a plain one, as long as others are served.
func TestCreationOutlivesALateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := hasty{newLine(newCell(memory(t)), true), map[string]bool{}}
		tasks := newTasks(Options{Keys: givenKeys(t), Pools: onePool()}, s)
		if err := tasks.ledger.Lease.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		h, err := tasks.Maker.Create(t.Context(), creation(rule(nil), "call result"))
		if err != nil {
			t.Fatalf("got %v, want a task", err)
		}
		if len(s.late) == 0 {
			t.Error("no answer was late")
		}
		h.Discard()
		synctest.Wait()
	})
}

// Calls that come at the same moment are recorded some at a time, in the order in which
// they came; who waits for too long is told that the store is unavailable.
func TestCreationsWaitForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := make(creating, createAtOnce)
		for range createAtOnce {
			if err := c.enter(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if err := c.enter(t.Context()); !errors.Is(err, storage.ErrUnavailable) || time.Since(began) != createWait {
			t.Errorf("got %v after %v, want ErrUnavailable after %v", err, time.Since(began), createWait)
		}
		left, leave := context.WithCancel(t.Context())
		leave()
		if err := c.enter(left); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that left: got %v", err)
		}
		time.AfterFunc(time.Second, c.leave)
		if err := c.enter(t.Context()); err != nil {
			t.Errorf("once a place is free: got %v", err)
		}
	})
}
