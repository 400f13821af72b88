package routing_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/routing"
	"berth/routing/health"
)

func TestFiveFailuresInARowEject(t *testing.T) {
	p := poolOf("a", "b")
	a := p.Find("a")
	for range 4 {
		p.Failed(a, health.FailedConnect, errBroken)
	}
	p.Succeeded(a)
	for range 4 {
		p.Failed(a, health.FailedConnect, errBroken)
	}
	if a.Ejected() {
		t.Error("ejected, though no five failures were in a row")
	}
	p.Failed(a, health.FailedConnect, errBroken)
	if !a.Ejected() {
		t.Error("not ejected after five failures in a row")
	}
}

// Each ejection that follows upon the last one is five seconds longer, up to a
// minute. A success in between starts over.
func TestEjectionsGrowUntilASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf("a", "b")
		a := p.Find("a")
		eject(t, p, a)
		for n := 1; n <= 14; n++ {
			life := min(time.Duration(n)*5*time.Second, time.Minute)
			time.Sleep(life - time.Millisecond)
			if !a.Ejected() {
				t.Fatalf("ejection %d: over before %v", n, life)
			}
			time.Sleep(time.Millisecond)
			if a.Ejected() {
				t.Fatalf("ejection %d: not over after %v", n, life)
			}
			p.Failed(a, health.FailedConnect, errBroken) // one is enough now
			if !a.Ejected() {
				t.Fatalf("ejection %d: the next failure did not eject again", n)
			}
		}
		time.Sleep(time.Minute)
		p.Succeeded(a)
		p.Failed(a, health.FailedConnect, errBroken)
		if a.Ejected() {
			t.Error("one failure after a success ejected")
		}
		eject(t, p, a)
		time.Sleep(5 * time.Second)
		if a.Ejected() {
			t.Error("the first ejection after a success lasts longer than five seconds")
		}
	})
}

func TestAtMostHalfOfAPoolIsEjected(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	for n := 1; n <= len(names); n++ {
		p := poolOf(names[:n]...)
		for _, u := range p.Upstreams() {
			for range 20 {
				p.Failed(u, health.FailedConnect, errBroken)
			}
		}
		if got := ejected(p); got != n/2 {
			t.Errorf("pool of %d: got %d ejected, want %d", n, got, n/2)
		}
	}
}

func ejected(p *routing.Pool) int {
	n := 0
	for _, u := range p.Upstreams() {
		if u.Ejected() {
			n++
		}
	}
	return n
}

// run runs the pool's probing until the end of the test's bubble.
func run(t *testing.T, p *routing.Pool) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestSilentUpstreamIsProbedUntilItAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers atomic.Bool
		var probes, others atomic.Int64
		p := routing.NewPool(routing.PoolOptions{
			Upstreams: upstreams("a", "b"),
			Probe: func(_ context.Context, u *routing.Upstream) error {
				if u.Name != "a" {
					others.Add(1)
				}
				probes.Add(1)
				if answers.Load() {
					return nil
				}
				return errBroken
			},
		})
		run(t, p)
		a := p.Find("a")
		p.FellSilent(a, errBroken)
		synctest.Wait()
		if !a.Silent() || probes.Load() != 1 {
			t.Errorf("silent %v after %d probes, want true after one at once", a.Silent(), probes.Load())
		}
		time.Sleep(10 * time.Second)
		if got := a.DownFor(); got != 10*time.Second {
			t.Errorf("DownFor: got %v, want 10s", got)
		}
		answers.Store(true)
		time.Sleep(time.Second)
		synctest.Wait()
		if a.Silent() || a.DownFor() != 0 {
			t.Errorf("after an answer: silent %v, down for %v", a.Silent(), a.DownFor())
		}
		heard := probes.Load()
		time.Sleep(time.Minute)
		if probes.Load() != heard || others.Load() != 0 {
			t.Error("upstreams that answer are probed")
		}
	})
}

// A fleet that vanishes is probed all at once, not one upstream a second.
func TestSilentUpstreamsAreProbedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes atomic.Int64
		p := routing.NewPool(routing.PoolOptions{
			Upstreams: upstreams("a", "b", "c", "d", "e", "f", "g", "h"),
			Probe: func(ctx context.Context, _ *routing.Upstream) error {
				probes.Add(1)
				<-ctx.Done()
				return ctx.Err()
			},
		})
		run(t, p)
		for _, u := range p.Upstreams() {
			p.FellSilent(u, errBroken)
		}
		time.Sleep(3 * time.Second)
		if got, least := probes.Load(), int64(2*len(p.Upstreams())); got < least {
			t.Errorf("probes of 8 silent upstreams in 3 s: got %d, want %d or more", got, least)
		}
	})
}

// Any answer ends silence, not only one to a probe.
func TestAnyAnswerEndsSilence(t *testing.T) {
	p := routing.NewPool(routing.PoolOptions{Upstreams: upstreams("a"), Probe: mute})
	a := p.Find("a")
	p.FellSilent(a, errBroken)
	p.Succeeded(a)
	if a.Silent() {
		t.Error("silent after an answer")
	}
}

// An instance that refused, and then hangs in its start, is told as one that hangs.
func TestSilenceIsToldAsItShowedLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, shows := new(realtest.Journal), make(chan error, 1)
		p := routing.NewPool(routing.PoolOptions{
			Upstreams: upstreams("a"), Logger: slog.New(slog.NewTextHandler(log, nil)),
			Probe: func(ctx context.Context, _ *routing.Upstream) error {
				select {
				case now := <-shows:
					shows <- now
					return now
				case <-ctx.Done(): // it has yet to show
					return ctx.Err()
				}
			},
		})
		run(t, p)
		a, since := p.Find("a"), time.Now()
		told := func(want error) {
			t.Helper()
			if got := a.State(); got.Name != health.StateSilent || got.Cause != want || !got.Since.Equal(since) {
				t.Errorf("got %v, want %v since the beginning", got, want)
			}
			if got := a.Refuses(); got != (want == syscall.ECONNREFUSED) {
				t.Errorf("%v: refuses is %v", want, got)
			}
		}
		p.FellSilent(a, errBroken)
		told(errBroken)
		shows <- syscall.ECONNREFUSED
		time.Sleep(5 * time.Second)
		told(syscall.ECONNREFUSED)
		<-shows
		shows <- context.DeadlineExceeded
		time.Sleep(5 * time.Second)
		told(context.DeadlineExceeded)
		<-shows
		p.FellSilent(a, errBroken)
		told(errBroken)
		if got := strings.Count(log.String(), "upstream does not answer"); got != 1 {
			t.Errorf("logged %d times, want once:\n%s", got, log)
		}
	})
}

// Where nobody probes, nothing would end the silence of an upstream to which
// owned calls are not sent.
func TestNobodyIsSilentWhereNobodyProbes(t *testing.T) {
	p := poolOf("a")
	p.FellSilent(p.Find("a"), errBroken)
	if p.Find("a").Silent() {
		t.Error("silent for ever")
	}
}

// One request that broke, and none since: that is no silence, however long ago.
// It was taken for one, so that an idle upstream seemed down for minutes.
func TestABrokenRequestIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := routing.NewPool(routing.PoolOptions{Upstreams: upstreams("a"), Probe: mute})
		a := p.Find("a")
		p.Failed(a, health.FailedConnect, errBroken)
		time.Sleep(time.Hour)
		if got := a.DownFor(); got != 0 {
			t.Errorf("DownFor: got %v, want 0", got)
		}
		p.FellSilent(a, errBroken)
		time.Sleep(time.Second)
		if got := a.DownFor(); got != time.Second {
			t.Errorf("DownFor a second after it fell silent: got %v", got)
		}
	})
}
