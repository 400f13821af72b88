package routing_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/routing"
	"berth/routing/health"
)

// ruled is a pool of a and b that ejects by rule, with what it logs.
func ruled(rule health.Ejection) (*routing.Pool, *realtest.Journal) {
	log := new(realtest.Journal)
	return routing.NewPool(routing.PoolOptions{
		Name: "p", Upstreams: upstreams("a", "b"), Probe: mute, Settings: routing.Settings{Ejection: rule}, Logger: slog.New(slog.NewTextHandler(log, nil)),
	}), log
}

// Failures that lie further apart than the window are no row, however many there are.
func TestFailuresOutsideTheWindowDoNotEject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := ruled(health.Ejection{Failures: 3, Window: time.Minute})
		a := p.Find("a")
		for range 20 {
			p.Failed(a, health.FailedStatus, errBroken)
			time.Sleep(31 * time.Second)
		}
		if a.Ejected() {
			t.Error("ejected by failures of which no three lie within a minute")
		}
		p.Failed(a, health.FailedStatus, errBroken)
		p.Failed(a, health.FailedStatus, errBroken)
		if !a.Ejected() {
			t.Error("not ejected by three failures within a minute")
		}
	})
}

func TestIgnoredFailuresDoNotEject(t *testing.T) {
	p, _ := ruled(health.Ejection{Ignore: health.FailedStatus | health.FailedTimeout})
	a := p.Find("a")
	for range 20 {
		p.Failed(a, health.FailedStatus, errBroken)
		p.Failed(a, health.FailedTimeout, errBroken)
	}
	if a.Ejected() {
		t.Error("ejected by what does not count")
	}
	eject(t, p, a)
}

func TestShareOfAPoolThatIsEjected(t *testing.T) {
	for percent, want := range map[int]int{0: 1, 49: 0, 50: 1, 99: 1, 100: 2} {
		p, _ := ruled(health.Ejection{Percent: percent})
		for _, u := range p.Upstreams() {
			for range 9 {
				p.Failed(u, health.FailedConnect, errBroken)
			}
		}
		if got := ejected(p); got != want {
			t.Errorf("%d %%: got %d of 2 ejected, want %d", percent, got, want)
		}
	}
}

// A sick upstream is told of once, and once more when it is well: not each time that a call
// finds it as it was.
func TestEjectionIsLoggedOnceAStateChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, log := ruled(health.Ejection{})
		a := p.Find("a")
		eject(t, p, a)
		for range 9 {
			p.Failed(a, health.FailedConnect, errBroken)
			time.Sleep(time.Minute)
		}
		if got := a.State(); got.Name != health.StateOK {
			t.Errorf("after its ejection: %v", got)
		}
		p.Succeeded(a)
		p.Succeeded(a)
		got := log.String()
		if n := strings.Count(got, "upstream ejected"); n != 1 || !strings.Contains(got, "upstream=a for=5s error=broken") {
			t.Errorf("got %d lines of an ejection, want one with name, time and cause:\n%s", n, got)
		}
		if n := strings.Count(got, "upstream takes new work again"); n != 1 {
			t.Errorf("got %d lines of a return, want one:\n%s", n, got)
		}
	})
}

// Whoever answers probes and nothing else is no better for it.
func TestAnswersToProbesEndNoRow(t *testing.T) {
	p, _ := ruled(health.Ejection{})
	a := p.Find("a")
	for range 5 {
		p.Failed(a, health.FailedTimeout, errBroken)
		p.FellSilent(a, errBroken)
		p.Answered(a)
	}
	if a.Silent() || !a.Ejected() {
		t.Errorf("silent %v, ejected %v, want only the latter", a.Silent(), a.Ejected())
	}
}

// A silence is logged once it is confirmed: a read that took too long, of an upstream that
// answers all else, was two lines a request.
func TestSilenceIsLoggedOnceConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, deaf := new(realtest.Journal), false
		p := routing.NewPool(routing.PoolOptions{
			Upstreams: upstreams("a", "b"), Logger: slog.New(slog.NewTextHandler(log, nil)),
			Probe: func(context.Context, *routing.Upstream) error {
				if deaf {
					return errBroken
				}
				return nil
			},
		})
		run(t, p)
		a := p.Find("a")
		for range 3 {
			p.FellSilent(a, errBroken)
			synctest.Wait()
		}
		if a.Silent() || log.String() != "" {
			t.Errorf("silent %v, logged %q, want neither of an upstream that answers its probe", a.Silent(), log.String())
		}
		deaf = true
		p.FellSilent(a, context.DeadlineExceeded)
		time.Sleep(10 * time.Second)
		if !a.Silent() {
			t.Error("not silent")
		}
		p.Answered(a)
		got := log.String()
		if strings.Count(got, "upstream does not answer") != 1 || !strings.Contains(got, context.DeadlineExceeded.Error()) || strings.Count(got, "upstream answers again") != 1 {
			t.Errorf("got log\n%s\nwant one line of its silence and one of the end", got)
		}
	})
}
