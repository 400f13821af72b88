package sticky

import (
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
)

// A session that has ended stays so, though the request that ended it has used it, which is written behind that.
func TestASessionThatHasEndedIsNotPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := storage.Open("memory:", storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		b := New(store, Options{SessionIdle: time.Hour, Near: 10})
		key := Key{Kind: Session, Pool: "p", ID: "1"}
		if err := b.Bind(t.Context(), key, Binding{Upstream: "a"}, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Minute)
		now, _, err := b.Lookup(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if _, changed := b.Touch(key, now); !changed {
			t.Fatal("it is not touched")
		}
		b.Unbind(t.Context(), key)
		for len(b.refresher.updates) > 0 { // as Run does
			if err := b.refresher.apply(t.Context(), <-b.refresher.updates); err != nil {
				t.Fatal(err)
			}
		}
		if got, _, err := b.Lookup(t.Context(), key); !errors.Is(err, ErrUnknown) {
			t.Errorf("it is bound again: %+v, %v", got, err)
		}
		if owned, err := b.Owned(t.Context(), "p", "a"); err != nil || owned.Sessions != 0 {
			t.Errorf("owned: %+v, %v", owned, err)
		}
	})
}

// What was unbound is remembered for as long as a refresh may wait, and in bounds.
func TestForgottenIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f forgotten
		for i := range 3 * mostForgotten {
			f.add(Key{ID: strconv.Itoa(i)})
			if len(f.at) > mostForgotten {
				t.Fatalf("%d are remembered", len(f.at))
			}
		}
		last := Key{ID: strconv.Itoa(3*mostForgotten - 1)}
		if !f.has(last) || f.has(Key{ID: "none"}) {
			t.Error("the last one is not known, or another is")
		}
		if time.Sleep(2 * forgottenFor); f.has(last) {
			t.Error("it is known for ever")
		}
	})
}

// What was unbound, and bound again since, is put back where the store loses it, as any other.
func TestWhatIsBoundAgainIsPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := storage.Open("memory:", storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		b := over(store, Options{Near: 10})
		b.mustBind(t, task("7"), "a", time.Hour)
		b.Unbind(t.Context(), task("7"))
		time.Sleep(time.Second)
		b.mustBind(t, task("7"), "a", time.Hour)
		if err := store.Delete(t.Context(), task("7").Digest()); err != nil { // as by a flush
			t.Fatal(err)
		}
		bound, ok := b.local.near.Get(task("7"))
		if !ok {
			t.Fatal("it is not known here")
		}
		b.Observe(task("7"), &bound, Seen{At: time.Now(), Status: "input_required"})
		if err := b.refresher.apply(t.Context(), <-b.refresher.updates); err != nil {
			t.Fatal(err)
		}
		over(store, Options{}).owns(t, "a", task("7"), SourceBound)
	})
}
