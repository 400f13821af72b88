package sticky

import (
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
)

// A task whose result its client was given counts no more, though another berth, which asked the fleet for it while the store was away, has
// written its binding since: when that berth asked does not tell that the id was given out again.
func TestTheEndStandsAgainstABindingThatWasAskedFor(t *testing.T) {
	for name, pending := range map[string]bool{"made before the store was lost": false, "made while the store was away": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, err := storage.Open("memory:", storage.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				maker, asker := over(store, Options{Near: 10}), over(store, Options{Near: 10})
				made := maker.terms.entry(task("1"), Binding{Upstream: "a", Status: "working"}, time.Hour)
				if maker.local.add(&made); pending {
					if _, err := maker.local.bind(made, storage.ErrUnavailable); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Second)
				if err := asker.Bind(t.Context(), task("1"), asked("a"), 0); err != nil {
					t.Fatal(err)
				}
				asker.counts(t, "a", 1, 0)
				time.Sleep(time.Second)
				maker.Observe(task("1"), &made.binding, given())
				if err := maker.refresher.apply(t.Context(), <-maker.refresher.updates); err != nil {
					t.Fatal(err)
				}
				maker.writeBack.all(t.Context())
				maker.refresher.payBack(t.Context())
				maker.counts(t, "a", 0, 0)
				if got := over(store, Options{}).owns(t, "a", task("1"), SourceBound); got.Status != "completed" || !got.EndedCounting() {
					t.Errorf("got %+v, want completed, and counted no more", got)
				}
			})
		})
	}
}
