package site

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"berth/internal/config"
	"berth/routing"
	"berth/routing/health"
)

// An instance that froze, or that is ejected, showed nowhere by name.
func TestReadinessNamesWhoGetsNoNewWork(t *testing.T) {
	broken := errors.New("no answer in time")
	pool := routing.NewPool(routing.PoolOptions{
		Name: "p", Upstreams: []*routing.Upstream{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Probe: func(context.Context, *routing.Upstream) error { return broken },
	})
	if ok, detail := poolAnswers(pool); !ok || detail != "" {
		t.Errorf("well: got %v, %q", ok, detail)
	}
	pool.FellSilent(pool.Find("b"), broken)
	for range 5 {
		pool.Failed(pool.Find("c"), health.FailedStatus, errors.New("HTTP 500"))
	}
	want := regexp.MustCompile(`^2 of 3 upstreams: b does not answer since \d\d:\d\d:\d\dZ \(no answer in time\), c is ejected since \d\d:\d\d:\d\dZ \(HTTP 500\)$`)
	if ok, detail := poolAnswers(pool); !ok || !want.MatchString(detail) {
		t.Errorf("got %v, %q, want true, %v", ok, detail, want)
	}
	pool.FellSilent(pool.Find("a"), broken)
	pool.FellSilent(pool.Find("c"), broken)
	if ok, detail := poolAnswers(pool); ok || !strings.HasPrefix(detail, "3 of 3") {
		t.Errorf("nobody answers: got %v, %q", ok, detail)
	}
}

// A pool whose upstreams all drain serves what they own and turns the rest away: berth is not taken out for
// it, and says so.
func TestReadinessTellsThatAllDrain(t *testing.T) {
	pool := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{{Name: "a"}, {Name: "b", Draining: true}}})
	if ok, detail := poolAnswers(pool); !ok || detail != "" {
		t.Errorf("one takes work: got %v, %q", ok, detail)
	}
	pool.SetDrains(map[string]routing.Drain{"a": {Since: time.Now()}})
	if ok, detail := poolAnswers(pool); !ok || detail != "none takes new work, as all drain" {
		t.Errorf("none does: got %v, %q", ok, detail)
	}
}

// A pool ejects by what its configuration says, all of it.
func TestEjectionIsWiredWhole(t *testing.T) {
	pool := config.DefaultPool()
	if got := ejection(pool.Ejection); got.Ignore != 0 {
		t.Errorf("by default: ignores %v, want nothing", got.Ignore)
	}
	got := ejection(config.Ejection{On: []string{"timeout"}, Failures: 1, Window: 2, Min: 3, Max: 4, Percent: 5})
	want := health.Ejection{Ignore: health.FailedConnect | health.FailedStatus, Failures: 1, Window: 2, Min: 3, Max: 4, Percent: 5}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
