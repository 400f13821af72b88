package ledger

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/storagetest"
)

// Whoever waits for a renewal that fails is not made to wait for as many as others ask for.
func TestARenewalThatFailsIsTriedOnceForAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("refused")
		tried := 0 // by who has the turn
		l := newLease(Lists{}, "holder", time.Minute, func(context.Context) (Word, error) {
			tried++
			time.Sleep(100 * time.Millisecond)
			return Word{}, refused
		})
		var asking sync.WaitGroup
		for range 10 {
			asking.Go(func() {
				if err := l.Renew(t.Context()); !errors.Is(err, refused) {
					t.Errorf("got %v, want what came of a renewal", err)
				}
			})
		}
		asking.Wait()
		if tried != 2 {
			t.Errorf("renewals: got %d, want the one under way and one for all", tried)
		}
		if _ = l.Renew(t.Context()); tried != 3 {
			t.Errorf("renewals: got %d, want one more for who comes later", tried)
		}
	})
}

// Of what was before the last time that its process stood still a lease knows until when it stood then; of what was before
// another such time nothing.
func TestALeaseKnowsUntilWhenItStoodBeforeASleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		l := newLease(Lists{}, "holder", time.Minute, nil)
		renew := func() { l.until = l.try().Add(l.life) }
		renew()
		time.Sleep(50 * time.Second)
		first := time.Now()
		if got := l.StoodUntil(first); !got.Equal(begun.Add(time.Minute)) {
			t.Errorf("awake: it stood until %v after it was renewed", got.Sub(begun))
		}
		time.Sleep(time.Hour)
		l.try()
		if got := l.StoodUntil(first); !got.Equal(begun.Add(time.Minute)) {
			t.Errorf("once it slept: it stood until %v after it was renewed", got.Sub(begun))
		}
		renew()
		second := time.Now()
		time.Sleep(time.Hour)
		l.try()
		if got := l.StoodUntil(first); got.After(first) {
			t.Errorf("once it slept twice: it stood for %v", got.Sub(first))
		}
		if got := l.StoodUntil(second); !got.Equal(second.Add(time.Minute)) {
			t.Errorf("of what was between two sleeps: it stood for %v", got.Sub(second))
		}
	})
}

// unconfirmed is a store with too few replicas: it does what it does not confirm, and does not confirm what stands.
type unconfirmed struct {
	Store
	whole bool // they are there
}

func (u *unconfirmed) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (storage.Record, error) {
	r, err := u.Store.Swap(ctx, key, version, value, ttl)
	if !u.whole && (err == nil || errors.Is(err, storage.ErrConflict)) {
		err = storage.ErrUnavailable
	}
	return r, err
}

// Others go by what the store holds: a lease is renewed there also while nobody confirms that.
func TestALeaseThatTheStoreDoesNotConfirmIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const life = 3 * time.Second
		store := &unconfirmed{storagetest.OpenMemory(t), true}
		lists := Lists{store}
		l := newLease(lists, "holder", life, func(context.Context) (Word, error) { return Word{Said: time.Now()}, nil })
		beat := func() error { time.Sleep(life / 3); return l.Renew(t.Context()) }
		for range 2 {
			if err := beat(); err != nil {
				t.Fatal(err)
			}
		}
		store.whole = false
		for range 10 {
			if err := beat(); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("got %v, want that the store does not say", err)
			}
			if stands, err := lists.Stands(t.Context(), "holder"); !stands || err != nil {
				t.Fatalf("it stands: %v, %v", stands, err)
			}
		}
		store.whole = true
		if err := beat(); err != nil || !l.fresh() {
			t.Errorf("confirmed again: %v", err)
		}
	})
}
