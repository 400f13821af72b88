package sticky

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/storagetest"
)

// What an owner denies is what a call was routed by: an id that it gives out again meanwhile, here or at another berth, keeps its new binding.
func TestAnIDThatIsGivenOutAgainKeepsItsNewBinding(t *testing.T) {
	for _, name := range []string{"as it was routed", "by an older berth", "again", "again here", "by another owner", "again while the store is away"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, err := storage.Open("memory:", storage.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				one, two := New(store, Options{Near: 10}), New(store, Options{Near: 10})
				key := Key{Kind: Task, Pool: "p", ID: "7"}
				bind := func(b *Bindings, upstream string) {
					t.Helper()
					time.Sleep(time.Second)
					if err := b.Bind(t.Context(), key, Binding{Upstream: upstream, Status: "working"}, time.Hour); err != nil {
						t.Fatal(err)
					}
				}
				bind(one, "a")
				routed, _, err := one.Lookup(t.Context(), key)
				if err != nil {
					t.Fatal(err)
				}
				want := "a"
				switch name {
				case "as it was routed":
					want = ""
				case "by an older berth":
					routed.Made, want = 0, ""
				case "again":
					bind(two, "a")
				case "again here":
					bind(one, "a")
				case "by another owner":
					two.Unbind(t.Context(), key)
					bind(two, "b")
					want = "b"
				case "again while the store is away":
					time.Sleep(time.Second)
					e := one.terms.entry(key, Binding{Upstream: "a", Status: "working"}, time.Hour)
					if outcome, err := one.local.bind(e, storage.ErrUnavailable); outcome != outcomeLocal || err != nil {
						t.Fatal(outcome, err)
					}
				}
				one.UnbindAs(t.Context(), key, &routed)
				for at, b := range map[string]*Bindings{"here": one, "there": New(store, Options{})} {
					if name == "again while the store is away" && at == "there" {
						continue
					}
					if got, _, err := b.Lookup(t.Context(), key); got.Upstream != want || (want == "") != errors.Is(err, ErrUnknown) {
						t.Errorf("%s bound to %q, %v, want %q", at, got.Upstream, err, want)
					}
				}
				for _, upstream := range []string{"a", "b"} {
					tasks := 0
					if upstream == want {
						tasks = 1
					}
					if owned, err := one.Owned(t.Context(), "p", upstream); err != nil || owned.Tasks != tasks {
						t.Errorf("%q owns %d, %v, want %d", upstream, owned.Tasks, err, tasks)
					}
				}
			})
		})
	}
}

// What another berth binds while a denial is being taken in stays.
func TestWhatIsBoundWhileADenialIsTakenInStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one, two := New(store, Options{}), New(store, Options{})
		key := Key{Kind: Task, Pool: "p", ID: "7"}
		if err := one.Bind(t.Context(), key, Binding{Upstream: "a", Status: "working"}, time.Hour); err != nil {
			t.Fatal(err)
		}
		looks := 0
		err := one.binder.records.revise(t.Context(), key, 0, func([]byte) ([]byte, error) {
			if looks++; looks > 1 {
				return nil, ErrOwned
			}
			time.Sleep(time.Second)
			return nil, two.Bind(t.Context(), key, Binding{Upstream: "a", Status: "input_required"}, time.Hour)
		})
		if got, _, _ := two.Lookup(t.Context(), key); !errors.Is(err, ErrOwned) || got.Status != "input_required" {
			t.Errorf("got %v, and %q stands", err, got.Status)
		}
		if err := one.binder.records.revise(t.Context(), key, 0, func([]byte) ([]byte, error) { return nil, nil }); err != nil {
			t.Fatal(err)
		}
		if got, _, err := two.Lookup(t.Context(), key); !errors.Is(err, ErrUnknown) {
			t.Errorf("dropped: got %+v, %v", got, err)
		}
	})
}

// What berth has found by asking since a call was routed stays when the call is denied, for the owner may have said so of what was given the
// id again. It goes with the next denial.
func TestWhatWasFoundByAskingGoesWithTheNextDenial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := storagetest.OpenMemory(t)
		one, two := over(store, Options{Near: 10}), over(store, Options{Near: 10})
		one.mustBind(t, task("7"), "a", time.Hour)
		routed := one.owns(t, "a", task("7"), SourceBound)
		if err := store.Delete(t.Context(), task("7").Digest()); err != nil { // as by a flush
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := two.Bind(t.Context(), task("7"), asked("a"), 0); err != nil {
			t.Fatal(err)
		}
		one.UnbindAs(t.Context(), task("7"), &routed)
		found := two.owns(t, "a", task("7"), SourceBound)
		two.UnbindAs(t.Context(), task("7"), &found)
		for _, b := range []*berth{one, two} {
			b.unknown(t, task("7"))
			b.counts(t, "a", 0, 0)
		}
	})
}
