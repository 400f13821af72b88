package upgrade

import (
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade/queues"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// A queue that is paused is seen by a scrape of any berth, though no call waits in it there.
func TestPausedQueuesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdkmetric.NewManualReader()
		s := settings{meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}
		b := startBerths(t, 1, s, newTool())[0]
		is := func(want float64) {
			t.Helper()
			gaugesByState(t, reader) // has it looked for
			synctest.Wait()
			if got := gaugesByState(t, reader)["berth.upgrade.queues.paused "]; got != want {
				t.Errorf("%v queues are paused, want %v", got, want)
			}
		}
		time.Sleep(time.Second)
		is(0)
		other := queues.NewPauses(b.Queues.ledger.Store, time.Second)
		for _, queue := range []string{"q", "r"} {
			if err := other.Set(t.Context(), queue, queues.Pause{Since: time.Now(), By: "ann"}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Second)
		is(2)
		if err := b.Queues.Resume(t.Context(), "q"); err != nil {
			t.Fatal(err)
		}
		is(1)
	})
}
