package discover

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// An entry stands as long as somebody may keep its instance, and nobody keeps one for longer because another was told of it later.
func TestEntriesLiveAsLongAsTheirInstanceIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Options{Pool: "p", Changed: func([]Instance, bool) {}})
		m.Follow(Plan{Named: of("x", "y"), Rules: Rules{ForgetAfter: 48 * time.Hour}})
		m.Follow(Plan{Named: of("y"), Rules: Rules{ForgetAfter: 48 * time.Hour}})
		m.heard(of("z"))
		told := func() (all []string) {
			for _, e := range m.lives() {
				i, _ := instanceOf(e.Name)
				all = append(all, i.Name+" "+e.Left.String())
			}
			return all
		}
		time.Sleep(time.Hour)
		if got, want := told(), []string{"y 24h0m0s", "x 47h0m0s"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		time.Sleep(47 * time.Hour)
		if got, want := told(), []string{"y 24h0m0s"}; !slices.Equal(got, want) {
			t.Errorf("after forget_after: got %q, want %q", got, want)
		}
	})
}
