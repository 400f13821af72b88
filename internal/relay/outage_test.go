package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/storage"
	"berth/internal/wire"
)

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
			if body := exchangetest.ReadAll(t, response); len(body) != 60 || !strings.HasPrefix(body, "abcdefghijklmnopqrstuvwxyzabc") {
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
		if n := len(exchangetest.ReadAll(t, response)); n != 3*window*partSize {
			t.Errorf("got %d bytes", n)
		}
	})
}

func TestWhatCouldNotBeRemovedIsRemovedLater(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(saying(strings.Repeat("x", window*partSize))), w.start(nobody)
		here.line.noEnd.Store(true)
		exchangetest.ReadAll(t, here.pass(t, there))
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

// A flush takes the lease of the addressee, which lives: who passes something on waits until it is put back, whichever of the two
// renews first. One that is gone is found gone then.
func TestAFlushMakesNobodyGone(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, leaseLife/3 - time.Millisecond, leaseLife / 3} {
		inWorld(t, func(t *testing.T, w *world) {
			there, dead := w.start(saying("there")), w.start(nobody)
			time.Sleep(leaseLife / 5)
			here := w.start(nobody)
			dead.leave()
			time.Sleep(leaseLife)
			w.flush()
			time.Sleep(after)
			if response, err := here.Pass(t.Context(), there.Name(), request(), time.Minute); err != nil {
				t.Errorf("%v after the flush: %v", after, err)
			} else {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
			_, err := here.Pass(t.Context(), dead.Name(), request(), time.Minute)
			if e := sendError(t, err); e.Sent || !errors.Is(err, ErrGone) {
				t.Errorf("one that is gone: %+v", e)
			}
			time.Sleep(2 * paceMost)
			w.flush()
			_, err = here.Pass(t.Context(), dead.Name(), request(), time.Second)
			if e := sendError(t, err); e.Sent || !e.TimedOut {
				t.Errorf("for whom there is no time to wait: %+v", e)
			}
			time.Sleep(leaseLife)
		})
	}
}

// Many pass something on at once, before the lease was ever renewed.
func TestManyMayPassOnAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there := w.start(saying("there"))
		here := &berth{Mailbox: New(&line{Store: w.store, world: w, slow: time.Millisecond}, "", w.keys, slog.New(slog.DiscardHandler))}
		var all sync.WaitGroup
		for n := range 50 {
			all.Go(func() {
				time.Sleep(time.Duration(n) * 100 * time.Microsecond)
				response, err := here.Pass(t.Context(), there.Name(), request(), time.Minute)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			})
		}
		all.Wait()
		time.Sleep(2 * leaseLife)
	})
}

// A berth that starts right after a flush, or before those who live have noticed it, has lost nothing itself: the store tells how old it is.
func TestABerthThatStartsAfterAFlushTakesNobodyForGone(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, leaseLife/3 - time.Millisecond} {
		inWorld(t, func(t *testing.T, w *world) {
			there := w.start(saying("there"))
			time.Sleep(leaseLife + time.Second)
			w.flush()
			time.Sleep(after)
			here := w.start(nobody)
			response, err := here.Pass(t.Context(), there.Name(), request(), time.Minute)
			if err != nil {
				t.Fatalf("%v after the flush: %v", after, err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			time.Sleep(leaseLife)
			began := time.Now()
			if _, err := here.Pass(t.Context(), "nobody", request(), time.Minute); !errors.Is(err, ErrGone) || time.Since(began) > 0 {
				t.Errorf("one that is gone: %v after %v", err, time.Since(began))
			}
		})
	}
}

// The same holds of a berth that started while the store took none.
func TestABerthThatStartsAtAFullStoreTakesNobodyForGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there := w.start(saying("there"))
		time.Sleep(leaseLife + time.Second)
		l := &line{Store: w.store, world: w}
		l.full.Store(true)
		here := New(l, "", w.keys, slog.New(slog.DiscardHandler))
		if err := here.renew(t.Context()); err == nil {
			t.Fatal("the store is not full")
		}
		l.full.Store(false)
		if err := w.store.Delete(t.Context(), leaseKey(there.Name())); err != nil {
			t.Fatal(err)
		}
		response, err := here.Pass(t.Context(), there.Name(), request(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		time.Sleep(2 * leaseLife)
	})
}

// Of several servers one may come back without what it held, the lease of one berth alone: after an outage no lease that is missing counts.
func TestALeaseThatIsMissingAfterAnOutageCountsForNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(saying("there")), w.start(nobody)
		time.Sleep(leaseLife + time.Second)
		if err := w.store.Delete(t.Context(), leaseKey(there.Name())); err != nil {
			t.Fatal(err)
		}
		here.Recovered()
		response, err := here.Pass(t.Context(), there.Name(), request(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	})
}

// A store that takes no writes has leases run out that nobody could renew: those who live are not taken for gone, then or when it takes
// them again.
func TestAFullStoreMakesNobodyGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there := w.start(saying("there"))
		time.Sleep(leaseLife / 5)
		here := w.start(nobody)
		for range 2 {
			time.Sleep(leaseLife + time.Second)
			there.line.full.Store(true)
			here.line.full.Store(true)
			for range 40 {
				_, err := here.Pass(t.Context(), there.Name(), request(), time.Second)
				if e := sendError(t, err); errors.Is(err, ErrGone) || e.Sent {
					t.Fatalf("while it is full: %+v", e)
				}
				time.Sleep(time.Second)
			}
			there.line.full.Store(false)
			here.line.full.Store(false)
			for range 5 {
				response, err := here.Pass(t.Context(), there.Name(), request(), 0)
				if err != nil {
					t.Fatalf("afterwards: %v", err)
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				time.Sleep(time.Second)
			}
		}
	})
}

// The same where one of the store's servers takes none, and the lease of one berth lies there.
func TestALeaseThatCannotBeRenewedMakesNobodyGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(saying("there")), w.start(nobody)
		for after := range 6 {
			time.Sleep(leaseLife + time.Duration(after)*leaseLife/15)
			w.refuse(leaseKey(there.Name()))
			for range 3 * int(leaseLife/time.Second) {
				if err := here.stands(t.Context(), there.Name()); errors.Is(err, ErrGone) {
					t.Fatal("it is gone while its lease cannot be renewed")
				}
				time.Sleep(time.Second)
			}
			w.refuse("")
			for range 30 {
				if err := here.stands(t.Context(), there.Name()); errors.Is(err, ErrGone) {
					t.Fatal("it is gone as soon as its lease could be renewed")
				}
				time.Sleep(leaseLife / 30)
			}
		}
	})
}

// Who finds out whether a lease could be renewed keeps nobody from seeing that its berth is gone.
func TestABerthIsGoneForAllWhoAskAtOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.dies = true
		there, here, other := w.start(nobody), w.start(nobody), w.start(nobody)
		there.kill()
		time.Sleep(2 * leaseLife)
		for _, b := range []*berth{here, other, here} {
			if err := b.stands(t.Context(), there.Name()); !errors.Is(err, ErrGone) {
				t.Errorf("got %v", err)
			}
		}
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
		endsWithin(t, ended, renewEvery+time.Second)
		time.Sleep(2 * paceMost)
	})
}

func TestNoticesMayBeLost(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(saying("heard")), w.start(nobody)
		there.line.muffle.Store(true)
		here.line.muffle.Store(true)
		began := time.Now()
		if body := exchangetest.ReadAll(t, here.pass(t, there)); body != "heard" || time.Since(began) > 2*paceMost {
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
			time.AfterFunc(time.Duration(i+1)*100*time.Millisecond, func() { (*b.line.hears.Load())("") })
		}
		if body := exchangetest.ReadAll(t, here.pass(t, there)); body != "heard" || time.Since(began) > paceFirst/2 {
			t.Errorf("got %q after %v", body, time.Since(began))
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
		endsWithin(t, ended, 2*paceMost)
		time.Sleep(2 * paceMost)
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
