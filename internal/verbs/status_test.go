package verbs

import (
	"testing"
	"time"

	"berth/internal/api"
)

// A store that answers and takes no writes is not told to be well.
func TestStoreLineTellsThatNoWritesAreTaken(t *testing.T) {
	ago := time.Now().Add(-time.Hour)
	for want, s := range map[string]api.Store{
		"available": {Available: true, Since: ago},
		"answers, and takes no writes for 1h0m: oom": {Available: true, NoWrites: "oom", NoWritesSince: ago},
		"away for 1h0m: refused":                     {Since: ago, Reason: "refused"},
	} {
		if got := storeLine(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
