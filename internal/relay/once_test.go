package relay

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/wire"
)

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
		isExecuted(t, &executed, 0)
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
		isExecuted(t, &executed, 0)
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
		isExecuted(t, &executed, 0)
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
			passing.Go(func() { exchangetest.ReadAll(t, here.pass(t, there)) })
		}
		passing.Wait()
		isExecuted(t, &executed, 20)
	})
}

// The store has done what it did not acknowledge.
func TestATakingThatIsNotAcknowledgedIsTaken(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var executed atomic.Int64
		there, here := w.start(counted(&executed, saying("once"))), w.start(nobody)
		there.line.mute.Store(3)
		if body := exchangetest.ReadAll(t, here.pass(t, there)); body != "once" || executed.Load() != 1 {
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

// A fail-over of the store may lose that a request was taken.
func TestARequestIsExecutedOnceThoughTheStoreForgetsThat(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var executed atomic.Int64
		there, here := w.start(counted(&executed, saying("once"))), w.start(nobody)
		offer := w.keep("relay:exchange:")
		exchangetest.ReadAll(t, here.pass(t, there))
		id := strings.TrimPrefix(offer.key, "relay:exchange:")
		if err := w.store.Put(t.Context(), offer.key, offer.value, 20*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := w.store.Notify(t.Context(), topicOf(there.Name()), notice{kind: offered, id: id, from: here.Name()}.String()); err != nil {
			t.Fatal(err)
		}
		isExecuted(t, &executed, 1)
	})
}
