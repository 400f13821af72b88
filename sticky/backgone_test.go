package sticky

import (
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
)

// What is unbound while it is written back stays so: it is bound to nobody, and counts for no drain. What was given out anew since is
// bound.
func TestWhatIsUnboundWhileItIsWrittenBackStaysSo(t *testing.T) {
	for name, again := range map[string]bool{"for good": false, "and bound anew": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, err := storage.Open("memory:", storage.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				b := over(store, Options{Near: 10})
				if _, err := b.local.bind(b.terms.entry(session("1"), Binding{Upstream: "a"}, 0), storage.ErrUnavailable); err != nil {
					t.Fatal(err)
				}
				under := b.local.pending.some(1)[0]
				b.Unbind(t.Context(), session("1"))
				time.Sleep(time.Second)
				want := 0
				if again {
					b.mustBind(t, session("1"), "a", 0)
					want = 1
				}
				if err := b.writeBack.one(t.Context(), under); err != nil {
					t.Fatal(err)
				}
				b.refresher.payBack(t.Context())
				time.Sleep(time.Second)
				if found := b.finds(t, "a", session("1")); found != again {
					t.Errorf("it is bound: %v, want %v", found, again)
				}
				if owned, err := b.Owned(t.Context(), "p", "a"); err != nil || owned.Sessions != want {
					t.Errorf("owned: %+v, %v, want %d", owned, err, want)
				}
			})
		})
	}
}
