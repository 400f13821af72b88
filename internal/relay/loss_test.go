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
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/seal"
	"berth/internal/storage"
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
		if ops := here.line.ops.Load() - before; ops > 2 {
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
		time.Sleep(time.Minute)
		if executed.Load() > 0 {
			t.Error("it was executed after its sender had given up")
		}
	})
}

func TestWhatIsNotTakenInTimeIsTakenBack(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var executed atomic.Int64
		there, here := w.start(counted(&executed, saying("late"))), w.start(nobody)
		there.line.freeze()
		_, err := here.Pass(t.Context(), there.Name(), request(), 2*time.Second)
		if e := sendError(t, err); e.Sent || !e.TimedOut {
			t.Errorf("got %+v", e)
		}
		there.line.thaw()
		time.Sleep(time.Minute)
		if executed.Load() > 0 {
			t.Error("it was executed after its sender had given up")
		}
	})
}

// Who offered it is cut off, and cannot take it back: it expires by the store's clock.
func TestAnOfferExpires(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.dies = true
		var executed atomic.Int64
		there, here := w.start(counted(&executed, saying("late"))), w.start(nobody)
		there.line.freeze()
		time.AfterFunc(time.Second, func() { here.line.cut.Store(true) })
		_, err := here.Pass(t.Context(), there.Name(), request(), 2*time.Second)
		if e := sendError(t, err); !e.Sent || !e.TimedOut {
			t.Errorf("got %+v, want that it may have been executed", e)
		}
		time.Sleep(offerSpare)
		there.line.thaw()
		time.Sleep(time.Minute)
		if executed.Load() > 0 {
			t.Error("it was executed after it had expired")
		}
	})
}

func TestALateAnswerMayHaveBeenExecuted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ended := make(chan time.Time, 1)
		there, here := w.start(hanging(ended)), w.start(nobody)
		began := time.Now()
		_, err := here.Pass(t.Context(), there.Name(), request(), 3*time.Second)
		if e := sendError(t, err); !e.Sent || !e.TimedOut || time.Since(began) > 4*time.Second {
			t.Errorf("got %+v after %v", e, time.Since(began))
		}
		if took := (<-ended).Sub(began); took > 4*time.Second {
			t.Errorf("it was called off after %v", took)
		}
		synctest.Wait()
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
		began := time.Now()
		if took := (<-ended).Sub(began); took > 2*leaseLife+time.Second {
			t.Errorf("it ended %v later", took)
		}
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
		if body := readAll(t, response); body != "whole" {
			t.Errorf("got %q", body)
		}
	})
}

func TestNothingIsPassedOnWithoutTheStore(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(nobody), w.start(nobody)
		here.line.cut.Store(true)
		_, err := here.Pass(t.Context(), there.Name(), request(), 0)
		if e := sendError(t, err); e.Sent || !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("got %+v", e)
		}
		here.line.cut.Store(false)
		time.Sleep(2 * paceMost)
	})
}

// For as long as leases live; those of both run out with it.
func TestAnOutageInMidAnswerIsWaitedOut(t *testing.T) {
	for _, lasts := range []time.Duration{time.Second, 10 * time.Second, 14 * time.Second} {
		inWorld(t, func(t *testing.T, w *world) {
			there := w.start(func(context.Context, *exchange.Request) (*wire.Response, error) {
				response, body := stream(events)
				go func() {
					defer body.Close()
					for n := range 60 {
						_, _ = body.Write([]byte{byte('a' + n%26)})
						time.Sleep(time.Second)
					}
				}()
				return response, nil
			})
			here := w.start(nobody)
			response := here.pass(t, there)
			for _, b := range w.berths {
				time.AfterFunc(19*time.Second, func() { b.line.cut.Store(true) })
				time.AfterFunc(19*time.Second+lasts, func() { b.line.cut.Store(false) })
			}
			if body := readAll(t, response); len(body) != 60 || !strings.HasPrefix(body, "abcdefghijklmnopqrstuvwxyzabc") {
				t.Errorf("an outage of %v: got %q", lasts, body)
			}
			time.Sleep(2 * paceMost)
		})
	}
}

func TestWhatIsReadMayBeToldLate(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there := w.start(saying(strings.Repeat("x", 3*window*partSize)))
		here := w.start(nobody)
		response := here.pass(t, there)
		time.Sleep(time.Minute)
		here.line.noRead.Store(true)
		time.AfterFunc(10*time.Second, func() { here.line.cut.Store(true) })
		time.AfterFunc(11*time.Second, func() {
			here.line.noRead.Store(false)
			here.line.cut.Store(false)
		})
		if n := len(readAll(t, response)); n != 3*window*partSize {
			t.Errorf("got %d bytes", n)
		}
	})
}

func TestWhatCouldNotBeRemovedIsRemovedLater(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(saying(strings.Repeat("x", window*partSize))), w.start(nobody)
		here.line.noEnd.Store(true)
		readAll(t, here.pass(t, there))
		here.line.noEnd.Store(false)
		time.Sleep(2 * paceMost)
	})
}

func TestAPartThatHasExpiredIsNotWaitedFor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(endless(make(chan time.Time, 1))), w.start(nobody)
		response := here.pass(t, there)
		time.Sleep(2 * exchangeLife)
		began := time.Now()
		if body, err := io.ReadAll(response.Body); !errors.Is(err, ErrLost) || len(body) > 0 || time.Since(began) > paceMost {
			t.Errorf("got %d bytes and %v after %v", len(body), err, time.Since(began))
		}
		_ = response.Body.Close()
		time.Sleep(2 * paceMost)
	})
}

func TestALongOutageEndsAnAnswer(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.dies = true
		ended := make(chan time.Time, 1)
		there, here := w.start(endless(ended)), w.start(nobody)
		response := here.pass(t, there)
		here.line.cut.Store(true)
		there.line.cut.Store(true)
		if _, err := io.Copy(io.Discard, response.Body); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		_ = response.Body.Close()
		<-ended
	})
}

func TestAFlushEndsExchanges(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ended := make(chan time.Time, 1)
		there, here := w.start(hanging(ended)), w.start(nobody)
		time.AfterFunc(time.Minute, w.flush)
		began := time.Now()
		_, err := here.Pass(t.Context(), there.Name(), request(), 0)
		if e := sendError(t, err); !e.Sent || !errors.Is(err, ErrLost) {
			t.Errorf("got %+v", e)
		}
		if took := time.Since(began) - time.Minute; took > 2*paceMost {
			t.Errorf("it took %v", took)
		}
		<-ended
		time.Sleep(2 * paceMost)
	})
}

// Nothing is left that tells of the closing.
func TestAFlushEndsWhatNobodyReads(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ended := make(chan time.Time, 1)
		there, here := w.start(endless(ended)), w.start(nobody)
		response := here.pass(t, there)
		here.line.muffle.Store(true)
		_ = response.Body.Close()
		w.flush()
		began := time.Now()
		if took := (<-ended).Sub(began); took > renewEvery+time.Second {
			t.Errorf("it ended %v later", took)
		}
		time.Sleep(2 * paceMost)
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
		if body := readAll(t, here.pass(t, there)); body != "heard" {
			t.Errorf("got %q", body)
		}
	})
}

// It has taken the request, and does not know it when its sender gives up.
func TestWhatWasTakenUnheardIsNotExecutedLater(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var executed atomic.Int64
		there, here := w.start(counted(&executed, saying(""))), w.start(nobody)
		there.line.mute.Store(1)
		_, err := here.Pass(t.Context(), there.Name(), request(), paceFirst/2)
		if e := sendError(t, err); !e.Sent || !e.TimedOut {
			t.Errorf("got %+v", e)
		}
		time.Sleep(time.Minute)
		if executed.Load() > 0 {
			t.Error("it was executed")
		}
	})
}

func TestNoticesMayBeLost(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(saying("heard")), w.start(nobody)
		there.line.muffle.Store(true)
		here.line.muffle.Store(true)
		began := time.Now()
		if body := readAll(t, here.pass(t, there)); body != "heard" || time.Since(began) > 2*paceMost {
			t.Errorf("got %q after %v", body, time.Since(began))
		}
	})
}

func TestWhoMayHaveMissedANoticeLooksAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(saying("heard")), w.start(nobody)
		there.line.muffle.Store(true)
		here.line.muffle.Store(true)
		time.Sleep(paceMost + paceFirst)
		began := time.Now()
		for i, b := range w.berths {
			time.AfterFunc(time.Duration(i+1)*100*time.Millisecond, *b.line.missed.Load())
		}
		if body := readAll(t, here.pass(t, there)); body != "heard" || time.Since(began) > paceFirst/2 {
			t.Errorf("got %q after %v", body, time.Since(began))
		}
	})
}

func TestARequestIsExecutedOnceHoweverOftenItIsToldOf(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var executed atomic.Int64
		there := w.start(counted(&executed, func(context.Context, *exchange.Request) (*wire.Response, error) {
			time.Sleep(time.Second)
			return answer(aJSON, "once"), nil
		}))
		here := w.start(nobody)
		there.line.echo.Store(true)
		var passing sync.WaitGroup
		for range 20 {
			passing.Go(func() { readAll(t, here.pass(t, there)) })
		}
		passing.Wait()
		time.Sleep(time.Minute)
		if n := executed.Load(); n != 20 {
			t.Errorf("got %d executions, want 20", n)
		}
	})
}

// The store has done what it did not acknowledge.
func TestATakingThatIsNotAcknowledgedIsTaken(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var executed atomic.Int64
		there, here := w.start(counted(&executed, saying("once"))), w.start(nobody)
		there.line.mute.Store(3)
		if body := readAll(t, here.pass(t, there)); body != "once" || executed.Load() != 1 {
			t.Errorf("got %q, executed %d times", body, executed.Load())
		}
	})
}

func TestATakingBackThatIsNotAcknowledgedCounts(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(nobody), w.start(nobody)
		there.line.freeze()
		here.line.mute.Store(1)
		_, err := here.Pass(t.Context(), there.Name(), request(), time.Second)
		if e := sendError(t, err); e.Sent {
			t.Errorf("got %+v", e)
		}
		there.line.thaw()
		time.Sleep(2 * paceMost)
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
		if e := sendError(t, err); e.Sent || !errors.Is(err, ErrBusy) || executed.Load() != MaxServed {
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

func TestAnIdleMailboxAsksLittle(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		b := w.start(nobody)
		before := b.line.ops.Load()
		time.Sleep(time.Minute)
		if ops := b.line.ops.Load() - before; ops > 25 {
			t.Errorf("got %d operations in a minute", ops)
		}
	})
}

// The reader hears of it late, and not only when all has expired.
func TestAnAnswerThatCouldNotBeWrittenBreaksOff(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(endless(make(chan time.Time, 1))), w.start(nobody)
		response := here.pass(t, there)
		there.line.cut.Store(true)
		time.AfterFunc(22*time.Second, func() { there.line.cut.Store(false) })
		began := time.Now()
		if _, err := io.Copy(io.Discard, response.Body); !errors.Is(err, ErrLost) || time.Since(began) > 40*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		_ = response.Body.Close()
		time.Sleep(2 * paceMost)
	})
}

func TestAnAnswerIsCalledOffOnceTheStoreIsBack(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		ended := make(chan time.Time, 1)
		there, here := w.start(endless(ended)), w.start(nobody)
		response := here.pass(t, there)
		here.line.cut.Store(true)
		_ = response.Body.Close()
		time.Sleep(12 * time.Second)
		here.line.cut.Store(false)
		began := time.Now()
		if took := (<-ended).Sub(began); took > 2*paceMost {
			t.Errorf("it ended %v later", took)
		}
		time.Sleep(2 * paceMost)
	})
}

// A fail-over of the store may lose that a request was taken.
func TestARequestIsExecutedOnceThoughTheStoreForgetsThat(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var executed atomic.Int64
		there, here := w.start(counted(&executed, saying("once"))), w.start(nobody)
		offer := w.keep("relay:exchange:")
		readAll(t, here.pass(t, there))
		id := strings.TrimPrefix(offer.key, "relay:exchange:")
		if err := w.store.Put(t.Context(), offer.key, offer.value, 20*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := w.store.Notify(t.Context(), topicOf(there.Name()), notice{kind: offered, id: id, from: here.Name()}.String()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if n := executed.Load(); n != 1 {
			t.Errorf("got %d executions, want 1", n)
		}
	})
}

// What the parts of an answer say is sealed for their places.
func TestPartsCannotBeExchanged(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(func(context.Context, *exchange.Request) (*wire.Response, error) {
			response, body := stream(events)
			go func() {
				defer body.Close()
				for n := range 5 {
					_, _ = body.Write([]byte{byte('0' + n)})
					time.Sleep(time.Second)
				}
			}()
			return response, nil
		}), w.start(nobody)
		response := here.pass(t, there)
		time.Sleep(10 * time.Second)
		id := ""
		for _, key := range w.left() {
			if rest, found := strings.CutPrefix(key, "relay:exchange:"); found {
				id = rest
			}
		}
		second, err := w.store.Get(t.Context(), partKey(id, 2))
		if err != nil {
			t.Fatal(err)
		}
		_ = w.store.Put(t.Context(), partKey(id, 1), second.Value, time.Minute)
		if body, err := io.ReadAll(response.Body); !errors.Is(err, ErrLost) || len(body) > 0 {
			t.Errorf("got %q and %v", body, err)
		}
		_ = response.Body.Close()
		time.Sleep(2 * paceMost)
	})
}
