package storage

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage/breaker"
	"berth/internal/storage/engine"
	"berth/internal/storage/health"
	"berth/internal/storage/memory"
)

// flaky is the memory engine behind a line that can be away. It is not a Redis; the
// tests of the breaker's clock need one that runs inside a synctest bubble.
type flaky struct {
	*memory.Engine
	err   atomic.Pointer[engine.Fault]
	asked atomic.Int64
}

func (f *flaky) Ping(context.Context) error { return f.answer() }

func (f *flaky) Get(ctx context.Context, key string) (Record, error) {
	if err := f.answer(); err != nil {
		return Record{}, err
	}
	return f.Engine.Get(ctx, key)
}

func (f *flaky) answer() error {
	f.asked.Add(1)
	if err := f.err.Load(); err != nil {
		return err
	}
	return nil
}

// testTraffic is that of a store with defaults.
var testTraffic = breaker.Traffic{Alone: 18, Together: 64, Timeout: defaultTimeout}

func flakyStore(t *testing.T) (*Store, *flaky) {
	t.Helper()
	line := &flaky{Engine: memory.New()}
	h := health.New(slog.New(slog.DiscardHandler), false)
	m := newMetrics(nil, func() bool { return true })
	return &Store{engine: line, breakers: breaker.New(h, testTraffic), health: h, metrics: m, shared: true}, line
}

// D20: whatever the outage did to the breaker, it is closed within two seconds of the
// server's return, by Run alone.
func TestBreakerClosesWithoutTraffic(t *testing.T) {
	for _, outage := range []time.Duration{0, 400 * time.Millisecond, time.Second, 1499 * time.Millisecond, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s, line := flakyStore(t)
			ctx, cancel := context.WithCancel(t.Context())
			var ended atomic.Bool
			go func() { _ = s.Run(ctx); ended.Store(true) }()
			synctest.Wait()

			line.err.Store(&engine.Fault{Op: engine.OpGet, Reason: engine.ReasonRefused})
			for range breaker.FailuresToOpen {
				_, _ = s.Get(ctx, "k")
			}
			if s.Healthy() {
				t.Errorf("Healthy after %d failures: got true", breaker.FailuresToOpen)
			}
			time.Sleep(outage)
			line.err.Store(nil)
			time.Sleep(2 * time.Second)
			if _, err := s.Get(ctx, "k"); !errors.Is(err, ErrNotFound) || !s.Healthy() {
				t.Errorf("2 s after an outage of %v: got %v, healthy %v", outage, err, s.Healthy())
			}
			cancel()
			synctest.Wait()
			if !ended.Load() {
				t.Error("Run goes on after its context")
			}
		})
	}
}

// While the breaker is open, nobody but one prober at a time reaches the server.
func TestOpenBreakerSparesTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, line := flakyStore(t)
		line.err.Store(&engine.Fault{Op: engine.OpGet, Reason: engine.ReasonTimeout})
		for range breaker.FailuresToOpen {
			_, _ = s.Get(t.Context(), "k")
		}
		const seconds = 10
		for range seconds * 100 {
			if _, err := s.Get(t.Context(), "k"); !errors.Is(err, ErrUnavailable) {
				t.Fatalf("Get: got %v, want ErrUnavailable", err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		const most = breaker.FailuresToOpen + int64(seconds*time.Second/breaker.OpenFor)
		if got := line.asked.Load(); got > most {
			t.Errorf("asked: got %d, want at most %d", got, most)
		}
	})
}

// What says nothing about the server neither opens the breaker nor uses up the one
// permit that a half-open breaker has.
func TestMeaninglessErrorsDoNotMoveTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := flakyStore(t)
		for _, err := range []error{context.Canceled, &engine.Fault{Op: engine.OpPut, Reason: engine.ReasonOOM, Refusal: true}} {
			for range 5 * breaker.FailuresToOpen {
				_ = through(t.Context(), s, engine.OpPut, func(context.Context) error { return err })
			}
			if !s.breakers.Closed() {
				t.Fatalf("%v opened the breaker", err)
			}
			for range breaker.FailuresToOpen {
				_ = through(t.Context(), s, engine.OpGet, func(context.Context) error { return &engine.Fault{Op: engine.OpGet, Reason: engine.ReasonTimeout} })
			}
			time.Sleep(breaker.OpenFor + 1)
			for range breaker.SuccessesToClose {
				_ = through(t.Context(), s, engine.OpPut, func(context.Context) error { return err })
				if got := through(t.Context(), s, engine.OpGet, func(context.Context) error { return nil }); got != nil {
					t.Errorf("after %v in the half-open state: got %v", err, got)
				}
			}
			if !s.breakers.Closed() {
				t.Errorf("%d successes do not close the breaker", breaker.SuccessesToClose)
			}
			time.Sleep(time.Second) // of silence
		}
	})
}

// A panic in the half-open state gives the permit back.
func TestPanicDoesNotHoldTheBreakerOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := flakyStore(t)
		for range breaker.FailuresToOpen {
			_ = through(t.Context(), s, engine.OpGet, func(context.Context) error { return &engine.Fault{Op: engine.OpGet, Reason: engine.ReasonTimeout} })
		}
		time.Sleep(breaker.OpenFor + 1)
		func() {
			defer func() { _ = recover() }()
			_ = through(t.Context(), s, engine.OpGet, func(context.Context) error { panic("bug") })
		}()
		time.Sleep(breaker.OpenFor + 1)
		if err := through(t.Context(), s, engine.OpGet, func(context.Context) error { return nil }); err != nil {
			t.Errorf("got %v, want the breaker half open again", err)
		}
	})
}

// A slow hook delays neither the probing nor the end of Run beyond its own.
func TestHooksDoNotHoldUpProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, line := flakyStore(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		release := make(chan struct{})
		var calls atomic.Int64
		s.OnRecover(func() { calls.Add(1); <-release })
		line.err.Store(&engine.Fault{Op: engine.OpPing, Reason: engine.ReasonRefused})
		go func() { _ = s.Run(ctx) }()
		time.Sleep(time.Minute)
		for range 3 { // recoveries, all but the first during the first call
			line.err.Store(nil)
			time.Sleep(time.Minute)
			if !s.Healthy() {
				t.Error("Healthy while a hook runs: got false")
			}
			line.err.Store(&engine.Fault{Op: engine.OpPing, Reason: engine.ReasonRefused})
			time.Sleep(time.Minute)
			if s.Healthy() {
				t.Error("Healthy while down: got true")
			}
		}
		close(release)
		synctest.Wait()
		if got := calls.Load(); got != 2 {
			t.Errorf("calls: got %d, want 2: those during a call are one", got)
		}
	})
}

// through runs f in the turns of commands that go by themselves.
func through(ctx context.Context, s *Store, op string, f func(ctx context.Context) error) error {
	b := s.breakers.Of("")
	_, err := b.InTurn(ctx, b.Turns, op, f)
	return err
}
