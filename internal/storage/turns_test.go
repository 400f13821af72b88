package storage

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage/breaker"
	"berth/internal/storage/engine"
	"berth/internal/storage/memory"
)

// counter is the memory engine behind one who serves slowly, and who counts.
type counter struct {
	*memory.Engine
	takes  time.Duration
	closed chan struct{} // nobody is served before it is closed; nil: everybody is

	asked, most atomic.Int64 // at the same time
}

func (c *counter) serve() {
	now := c.asked.Add(1)
	defer c.asked.Add(-1)
	c.most.Store(max(c.most.Load(), now))
	if c.closed != nil {
		<-c.closed
	}
	time.Sleep(c.takes)
}

func (c *counter) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	c.serve()
	return c.Engine.Put(ctx, key, value, ttl)
}

func (c *counter) Get(ctx context.Context, key string) (Record, error) {
	c.serve()
	return c.Engine.Get(ctx, key)
}

// countedStore returns a store that a counter serves.
func countedStore(t *testing.T, c *counter) *Store {
	t.Helper()
	s, _ := flakyStore(t)
	c.Engine = memory.New()
	s.engine = c
	return s
}

// A burst is served, as many at a time as there are connections, and no server is lost.
func TestBurstWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{takes: 10 * time.Millisecond}
		s := countedStore(t, c)
		if err := s.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		var burst sync.WaitGroup
		for range 3000 {
			burst.Go(func() {
				if err := s.Put(t.Context(), "k", nil, 0); err != nil {
					t.Error(err)
				}
			})
		}
		burst.Wait()
		if want := int64(testTraffic.Alone); c.most.Load() != want {
			t.Errorf("at the same time: got %d, want %d", c.most.Load(), want)
		}
		if !s.Healthy() {
			t.Error("Healthy: got false")
		}
	})
}

// Whoever comes to read in a burst of writes is served after one of them at most.
func TestReaderDoesNotWaitForABurstOfWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{takes: 10 * time.Millisecond}
		s := countedStore(t, c)
		var burst sync.WaitGroup
		for range 3000 {
			burst.Go(func() { _ = s.Put(t.Context(), "k", nil, 0) })
		}
		synctest.Wait()
		for range 10 {
			began := time.Now()
			if _, err := s.Get(t.Context(), "k"); err != nil && !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
			if waited := time.Since(began); waited > 2*c.takes {
				t.Errorf("the reader was served after %v", waited)
			}
		}
		burst.Wait()
	})
}

// A wait that its caller has left is not counted among the answers: it would make a store look fast from which they leave.
func TestWaitThatWasLeftTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{closed: make(chan struct{})}
		s := countedStore(t, c)
		var inside sync.WaitGroup
		for range testTraffic.Alone {
			inside.Go(func() { _ = s.Put(t.Context(), "k", nil, 0) })
		}
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		inside.Go(func() {
			time.Sleep(time.Millisecond)
			leave()
		})
		took, err := s.ask(ctx, s.breakers.Of(""), engine.OpPut, func(context.Context) error { return errors.New("it was asked") })
		if !errors.Is(err, context.Canceled) || took != breaker.NotAsked {
			t.Errorf("got %v, %v", took, err)
		}
		close(c.closed)
		inside.Wait()
	})
}

// Those whose turn does not come are told so, and it is nobody's fault but this process's:
// neither those who gave up in time, nor those who waited for as long as anybody does.
func TestWaitForATurnIsNoFailureOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{closed: make(chan struct{})}
		s := countedStore(t, c)
		var inside, outside sync.WaitGroup
		for range testTraffic.Alone {
			inside.Go(func() {
				if err := s.Put(t.Context(), "k", nil, 0); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		for i := range 100 {
			outside.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				if i%2 == 0 {
					ctx, cancel = context.WithTimeout(t.Context(), time.Second)
				}
				defer cancel()
				err := s.Put(ctx, "k", nil, 0)
				if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), string(engine.ReasonBusy)) {
					t.Errorf("got %v, want that the store is busy", err)
				}
				if late := errors.Is(err, context.DeadlineExceeded); late != (i%2 == 0) {
					t.Errorf("got %v, want a deadline that passed: %v", err, i%2 == 0)
				}
			})
		}
		outside.Wait()
		if !s.breakers.Closed() {
			t.Error("the breaker opened")
		}
		close(c.closed)
		inside.Wait()
		if err := s.Put(t.Context(), "k", nil, 0); err != nil {
			t.Errorf("a turn was lost: got %v", err)
		}
	})
}

// A caller that gives the server no time, or had spent its own before the turn came, says
// nothing about the server; one that gave it all of the time for an answer does.
func TestDeadlineBeforeTheServersIsNoFailure(t *testing.T) {
	for given, opens := range map[time.Duration]bool{defaultTimeout / 2: false, defaultTimeout: true} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := flakyStore(t)
			for range 5 * breaker.FailuresToOpen {
				_ = through(t.Context(), s, engine.OpGet, func(context.Context) error {
					time.Sleep(given)
					return &engine.Fault{Op: engine.OpGet, Reason: engine.ReasonTimeout, Deadline: context.DeadlineExceeded}
				})
			}
			if s.breakers.Closed() == opens {
				t.Errorf("deadlines after %v: the breaker is open: %v", given, !opens)
			}
		})
	}
}

// All that is under way misses its answer when this machine stands still for a moment. A
// server is lost once it answers nobody for longer than that.
func TestStandstillIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := flakyStore(t)
		late := func() {
			var burst sync.WaitGroup
			for range 3 * breaker.FailuresToOpen {
				burst.Go(func() {
					_ = through(t.Context(), s, engine.OpGet, func(context.Context) error {
						time.Sleep(defaultTimeout)
						return &engine.Fault{Op: engine.OpGet, Reason: engine.ReasonTimeout}
					})
				})
			}
			burst.Wait()
		}
		for i := range 10 {
			// A refusal is an answer, too.
			err := error(&engine.Fault{Op: engine.OpPut, Reason: engine.ReasonOOM, Refusal: true})
			if i%2 == 0 {
				err = nil
			}
			_ = through(t.Context(), s, engine.OpPut, func(context.Context) error { return err })
			late()
			if !s.breakers.Closed() {
				t.Fatal("the breaker opened after one time for an answer")
			}
		}
		late()
		if s.breakers.Closed() {
			t.Error("the breaker is closed though nobody was answered for twice the time")
		}
	})
}

// Within counts from the turn on; a deadline counts the wait as well.
func TestWithinCountsFromTheTurnOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{takes: 100 * time.Millisecond}
		s := countedStore(t, c)
		var burst sync.WaitGroup
		for range 5 * testTraffic.Alone {
			burst.Go(func() { _ = s.Put(t.Context(), "k", nil, 0) })
		}
		synctest.Wait()
		began := time.Now()
		err := through(Within(t.Context(), 50*time.Millisecond), s, engine.OpPut, func(ctx context.Context) error {
			if waited := time.Since(began); waited < c.takes {
				t.Errorf("the turn came after %v", waited)
			}
			end, ok := ctx.Deadline()
			if left := time.Until(end); !ok || left != 50*time.Millisecond {
				t.Errorf("left of the time: %v", left)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		burst.Wait()
	})
}
