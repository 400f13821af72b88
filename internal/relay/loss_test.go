package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/seal"
	"berth/internal/wire"
)

func TestABerthThatIsGoneIsFoundGoneAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(nobody), w.start(nobody)
		there.leave()
		before, began := here.line.ops.Load(), time.Now()
		_, err := here.Pass(t.Context(), there.Name(), request(), time.Minute)
		if e := sendError(t, err); e.Sent || !errors.Is(err, ErrGone) || time.Since(began) > 0 {
			t.Errorf("got %+v after %v", e, time.Since(began))
		}
		if ops := here.line.ops.Load() - before; ops > 4 {
			t.Errorf("got %d operations", ops)
		}
	})
}

// It stands still, and its lease with it.
func TestABerthThatTakesNothingIsGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var executed atomic.Int64
		there, here := w.start(counted(&executed, saying("late"))), w.start(nobody)
		there.line.freeze()
		began := time.Now()
		_, err := here.Pass(t.Context(), there.Name(), request(), 0)
		if e := sendError(t, err); e.Sent || !errors.Is(err, ErrGone) || time.Since(began) > 2*leaseLife+paceMost {
			t.Errorf("got %+v after %v", e, time.Since(began))
		}
		there.line.thaw()
		isExecuted(t, &executed, 0)
	})
}

func TestABerthIsLostThatDiesBeforeItAnswers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.dies = true
		there, here := w.start(hanging(make(chan time.Time, 1))), w.start(nobody)
		time.AfterFunc(time.Minute, there.kill)
		began := time.Now()
		_, err := here.Pass(t.Context(), there.Name(), request(), 0)
		took := time.Since(began) - time.Minute
		if e := sendError(t, err); !e.Sent || !errors.Is(err, ErrLost) || took > 2*leaseLife+time.Second {
			t.Errorf("got %+v after %v", e, took)
		}
	})
}

// endless streams ten events a second until its context ends.
func endless(ended chan<- time.Time) Handle {
	return func(ctx context.Context, _ *exchange.Request) (*wire.Response, error) {
		response, body := stream(events)
		go func() {
			for ctx.Err() == nil {
				_, _ = body.Write([]byte("data: x\n\n"))
				select {
				case <-ctx.Done():
				case <-time.After(100 * time.Millisecond):
				}
			}
			ended <- time.Now()
		}()
		return response, nil
	}
}

func TestABerthIsLostThatDiesWhileItAnswers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.dies = true
		there, here := w.start(endless(make(chan time.Time, 1))), w.start(nobody)
		response := here.pass(t, there)
		time.AfterFunc(time.Minute, there.kill)
		began := time.Now()
		_, err := io.Copy(io.Discard, response.Body)
		if took := time.Since(began) - time.Minute; !errors.Is(err, ErrLost) || took > 2*leaseLife+time.Second {
			t.Errorf("got %v after %v", err, took)
		}
		_ = response.Body.Close()
	})
}

func TestABerthThatLeavesSaysSo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(endless(make(chan time.Time, 1))), w.start(nobody)
		response := here.pass(t, there)
		time.AfterFunc(time.Minute, there.leave)
		began := time.Now()
		_, err := io.Copy(io.Discard, response.Body)
		if took := time.Since(began) - time.Minute; !errors.Is(err, ErrLost) || took > time.Second {
			t.Errorf("got %v after %v", err, took)
		}
		_ = response.Body.Close()
	})
}

func TestAnAnswerIsCalledOff(t *testing.T) {
	for name, leave := range map[string]func(here *berth, response *wire.Response, end context.CancelFunc){
		"by its reader":           func(_ *berth, response *wire.Response, _ context.CancelFunc) { _ = response.Body.Close() },
		"by its context":          func(_ *berth, _ *wire.Response, end context.CancelFunc) { end() },
		"by the end of its berth": func(here *berth, _ *wire.Response, _ context.CancelFunc) { here.leave() },
		"by its reader, and unheard": func(here *berth, response *wire.Response, _ context.CancelFunc) {
			here.line.muffle.Store(true)
			_ = response.Body.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				ended := make(chan time.Time, 1)
				there, here := w.start(endless(ended)), w.start(nobody)
				ctx, end := context.WithCancel(t.Context())
				response, err := here.Pass(ctx, there.Name(), request(), 0)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(response.Body, make([]byte, 1000)); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				leave(here, response, end)
				if took := (<-ended).Sub(began); took > 1200*time.Millisecond {
					t.Errorf("it ended %v later", took)
				}
				if _, err := response.Body.Read(make([]byte, 1)); err == nil {
					t.Error("it can be read still")
				}
				_ = response.Body.Close()
				time.Sleep(2 * paceMost)
			})
		})
	}
}

func TestAnAnswerIsCalledOffWhenItsReaderDies(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ended := make(chan time.Time, 1)
		there, here := w.start(endless(ended)), w.start(nobody)
		response := here.pass(t, there)
		here.kill()
		endsWithin(t, ended, 2*leaseLife+time.Second)
		_ = response.Body.Close()
		w.dies = true
	})
}

// An answer that has been written is read, whatever becomes of who wrote it.
func TestAnAnswerOutlivesItsBerth(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(saying("whole")), w.start(nobody)
		response := here.pass(t, there)
		there.leave()
		time.Sleep(2 * time.Minute)
		if body := exchangetest.ReadAll(t, response); body != "whole" {
			t.Errorf("got %q", body)
		}
	})
}

func TestABerthThatLeavesBeforeItTakesIsGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(nobody), w.start(nobody)
		here.line.muffle.Store(true)
		time.Sleep(paceMost / 10) // it has just looked
		time.AfterFunc(paceFirst/2, there.leave)
		began := time.Now()
		_, err := here.Pass(t.Context(), there.Name(), request(), 0)
		if e := sendError(t, err); e.Sent || !errors.Is(err, ErrGone) || time.Since(began) > 2*paceFirst {
			t.Errorf("got %+v after %v", e, time.Since(began))
		}
	})
}

// Its lease stands, and it takes nothing.
func TestABerthWithAnotherSecretIsGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		here := w.start(nobody)
		other, err := seal.NewKeyring([]byte(strings.Repeat("o", seal.MinSecret)))
		if err != nil {
			t.Fatal(err)
		}
		w.keys = other
		var executed atomic.Int64
		there := w.start(counted(&executed, saying("")))
		began := time.Now()
		_, err = here.Pass(t.Context(), there.Name(), request(), 0)
		if e := sendError(t, err); e.Sent || !errors.Is(err, ErrGone) || time.Since(began) > 2*leaseLife+paceMost || executed.Load() > 0 {
			t.Errorf("got %+v after %v", e, time.Since(began))
		}
	})
}

func TestABerthThatHasLeftPassesNothingOn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var executed atomic.Int64
		there, here := w.start(counted(&executed, saying(""))), w.start(nobody)
		here.leave()
		_, err := here.Pass(t.Context(), there.Name(), request(), 0)
		if e := sendError(t, err); e.Sent || !errors.Is(err, errLeft) || executed.Load() > 0 {
			t.Errorf("got %+v", e)
		}
	})
}

// It is found to be there from its first Pass on.
func TestABerthMayPassOnBeforeItRuns(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.dies = true // its lease runs out
		there := w.start(func(context.Context, *exchange.Request) (*wire.Response, error) {
			time.Sleep(20 * time.Second)
			return answer(aJSON, "heard"), nil
		})
		here := &berth{Mailbox: New(&line{Store: w.store, world: w}, "", w.keys, slog.New(slog.DiscardHandler))}
		if body := exchangetest.ReadAll(t, here.pass(t, there)); body != "heard" {
			t.Errorf("got %q", body)
		}
	})
}

func TestABerthAnswersSoManyAtATime(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var executed atomic.Int64
		ended := make(chan time.Time, MaxServed+1)
		there, here := w.start(counted(&executed, hanging(ended))), w.start(nobody)
		ctx, end := context.WithCancel(t.Context())
		var passing sync.WaitGroup
		for range MaxServed {
			passing.Go(func() {
				_, err := here.Pass(ctx, there.Name(), request(), 0)
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			})
		}
		time.Sleep(time.Minute)
		_, err := here.Pass(t.Context(), there.Name(), request(), 0)
		if e := sendError(t, err); e.Sent || !e.Between || !errors.Is(err, ErrBusy) || executed.Load() != MaxServed {
			t.Errorf("got %+v, and %d executed", e, executed.Load())
		}
		end()
		passing.Wait()
		time.Sleep(2 * paceMost)
		if n := w.count("relay:exchange:") + w.count("relay:part:"); n > 0 {
			t.Errorf("got %d records left", n)
		}
	})
}
