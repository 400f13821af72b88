package sticky

import (
	"testing"
	"testing/synctest"

	"berth/internal/storage"
)

// Whoever waits for another's read that fails goes on with what it knew before: it is told what the cache has while the store is away.
func TestWhoWaitsInVainKeepsWhatItHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f sharedReads
		key, known := task("1"), Binding{Upstream: "a"}
		of := key.Sum()
		one, _ := f.join(&of)
		told := make(chan error)
		go func() { told <- f.do(t.Context(), &key, &known, nil) }()
		synctest.Wait()
		f.complete(&of, one, &Binding{}, storage.ErrUnavailable)
		if err := <-told; err != storage.ErrUnavailable || known.Upstream != "a" {
			t.Errorf("got %v, and %q, want what was known", err, known.Upstream)
		}
	})
}
