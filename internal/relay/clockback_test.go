package relay

import (
	"errors"
	"strconv"
	"testing"
	"time"
)

// A berth is gone that renews its lease no more, though the store's clock, which went back, has it stand: who passes something on to it is
// told so, and who does so later is told at once.
func TestABerthIsGoneWhoseLeaseStandsByTheStoresClockAlone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.dies = true
		there, here := w.start(nobody), w.start(nobody)
		time.Sleep(leaseLife)
		there.kill()
		if err := w.store.Put(t.Context(), leaseKey(there.Name()), standsValue, time.Hour); err != nil {
			t.Fatal(err)
		}
		for _, most := range []time.Duration{3*leaseLife + paceMost, 0} {
			began := time.Now()
			_, err := here.Pass(t.Context(), there.Name(), request(), 0)
			if e := sendError(t, err); e.Sent || !errors.Is(err, ErrGone) || time.Since(began) > most {
				t.Errorf("got %+v after %v, want it within %v", e, time.Since(began), most)
			}
			time.Sleep(leaseLife)
		}
	})
}

// Nobody is gone by its silence while leases cannot be renewed.
func TestABerthThatCannotRenewItsLeaseIsNotGone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.dies = true
		there, here := w.start(hanging(make(chan time.Time, 1))), w.start(nobody)
		go func() { _, _ = here.Pass(t.Context(), there.Name(), request(), 0) }()
		time.Sleep(leaseLife)
		there.line.full.Store(true)
		here.line.full.Store(true)
		if err := w.store.Put(t.Context(), leaseKey(there.Name()), standsValue, time.Hour); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * leaseLife)
		here.line.full.Store(false)
		time.Sleep(leaseLife / 2)
		if _, err := here.holds(t.Context(), there.Name()); err != nil {
			t.Error(err)
		}
		there.line.full.Store(false)
	})
}

// A deployment is not new for as long as the store's clock goes back: one that is gone is found gone at once.
func TestAStoreIsNotYoungWhoseClockWentBack(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		there, here := w.start(nobody), w.start(nobody)
		there.leave()
		if err := w.store.Put(t.Context(), sinceKey, []byte(strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10)), 0); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err := here.Pass(t.Context(), there.Name(), request(), time.Minute)
		if e := sendError(t, err); e.Sent || !errors.Is(err, ErrGone) || time.Since(began) > 0 {
			t.Errorf("got %+v after %v", e, time.Since(began))
		}
	})
}

// A store with too few replicas takes what it does not confirm: a berth that renews its lease there is not gone.
func TestALeaseThatTheStoreDoesNotConfirmIsRenewed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.dies = true
		there, here := w.start(nobody), w.start(nobody)
		time.Sleep(leaseLife)
		there.line.mute.Store(1 << 20)
		for range 10 {
			time.Sleep(leaseLife)
			if _, err := here.holds(t.Context(), there.Name()); err != nil {
				t.Fatal(err)
			}
		}
		there.line.mute.Store(0)
		time.Sleep(leaseLife)
		if err := there.stayAlive(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
