package routing_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/routing"
	"berth/routing/health"
)

// hosted is a running pool of a, which berth starts, and b, which it does not. keeps says what keeps a from it; nil: nothing.
func hosted(t *testing.T, keeps *atomic.Pointer[string]) (p *routing.Pool, log *realtest.Journal, end func()) {
	t.Helper()
	list := at("a", "b")
	list[0].Hosted = true
	log = new(realtest.Journal)
	p = routing.NewPool(routing.PoolOptions{
		Name: "p", Upstreams: list, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Revive: func(_ context.Context, u *routing.Upstream) (string, error) {
			if u.Name != "a" {
				t.Errorf("%s is started", u.Name)
			}
			if why := keeps.Load(); why != nil {
				return "", errors.New(*why)
			}
			return "", nil
		},
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	return p, log, func() { stop(); <-done }
}

func TestWhatCannotBeStartedGetsNoNewWorkUntilItCan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keeps atomic.Pointer[string]
		p, log, end := hosted(t, &keeps)
		defer end()
		a := p.Find("a")
		time.Sleep(3500 * time.Millisecond) // between two looks
		if got := a.State().Name; got != health.StateOK {
			t.Errorf("at first it is %s", got)
		}
		p.NotStarted(a, errors.New("no such program"))
		since := time.Now()
		keeps.Store(new("no such library"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := a.State(); got.Name != health.StateFailing || !got.IsDown() || !got.Since.Equal(since) || got.Cause.Error() != "no such library" {
			t.Errorf("got %+v", got)
		}
		for range 4 {
			lease, err := p.Pick(routing.Work{}, nil)
			if err != nil || lease.Upstream.Name != "b" {
				t.Fatalf("new work goes to %v, %v", lease, err)
			}
			lease.Release()
		}
		if a.Silent() {
			t.Error("what it owns is kept from it")
		}
		keeps.Store(nil)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := a.State().Name; got != health.StateOK {
			t.Errorf("in the end it is %s", got)
		}
		for _, line := range []string{"upstream cannot be started", "upstream can be started again"} {
			if n := strings.Count(log.String(), line); n != 1 {
				t.Errorf("%q is logged %d times", line, n)
			}
		}
	})
}

// An upstream that berth starts no more, by a new list, is judged as any other.
func TestWhatIsNotHostedAnyMoreIsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keeps atomic.Pointer[string]
		keeps.Store(new("no such program"))
		p, _, end := hosted(t, &keeps)
		defer end()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := p.Find("a").State().Name; got != health.StateFailing {
			t.Errorf("as hosted it is %s", got)
		}
		p.Replace(at("a", "b"))
		if got := p.Find("a").State().Name; got != health.StateOK {
			t.Errorf("afterwards it is %s", got)
		}
	})
}
