package stdio

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/exchange/exchangetest"
	"berth/internal/wire"
)

// due has the next trial, or the next start in a crash loop, be due, once the last trial is over.
func (r *rig) due() {
	r.eventually("the trial is over", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.trial == nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.breaker.next, r.breaker.again = time.Time{}, time.Time{}
}

func (r *rig) starts() int { return strings.Count(r.log.String(), "stdio process started") }

// troubled fails the test unless that is what is wrong; "": nothing.
func (r *rig) troubled(err error, part string) {
	r.t.Helper()
	if part == "" && err != nil || part != "" && (err == nil || !strings.Contains(err.Error(), part)) {
		r.t.Errorf("got %v, want %q", err, part)
	}
}

func TestWhatDoesNotStartIsInTroubleUntilItDoes(t *testing.T) {
	program := filepath.Join(t.TempDir(), "server")
	r := newRig(t, "server", func(o *Options, _ *timing) { o.Command = []string{program} })
	r.troubled(r.Revive(t.Context()), "")
	r.unopened("")
	r.troubled(r.Trouble(), "does not start: fork/exec "+program)
	for range 2 * quickDeaths {
		r.due()
		r.troubled(r.Revive(t.Context()), "no such file")
	}
	if err := os.Symlink(os.Args[0], program); err != nil {
		t.Fatal(err)
	}
	r.troubled(r.Revive(t.Context()), "no such file") // none is due
	r.due()
	r.troubled(r.Revive(t.Context()), "")
	r.eventually("its process is over", func() bool { return r.processes() == 0 })
	if got := r.open("").call("echo", "well"); got != "well" || r.starts() != 2 {
		t.Errorf("got %q after %d starts", got, r.starts())
	}
}

// A trial that takes longer than anybody waits for it goes on.
func TestATrialThatIsNotWaitedForGoesOn(t *testing.T) {
	r := newRig(t, "slow")
	r.mu.Lock()
	r.breaker.trouble = "a test"
	r.mu.Unlock()
	r.eventually("it is over", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		return r.Revive(ctx) == nil
	})
	if r.starts() != 1 {
		t.Errorf("%d starts", r.starts())
	}
}

// A trial says that a command starts, not that it lives: the next client's process may show that at once.
func TestATrialInACrashLoopMakesWayForOneClient(t *testing.T) {
	r := newRig(t, "server", func(_ *Options, t *timing) { t.backoff = time.Millisecond })
	for range quickDeaths {
		r.open("").call("die", "")
		r.eventually("the death is known", func() bool { return r.processes() == 0 })
	}
	r.troubled(r.Revive(t.Context()), "keeps dying")
	r.due()
	r.troubled(r.Revive(t.Context()), "")
	c := r.open("a")
	if why := r.unopened("b"); why.Reason != ReasonCrashLoop {
		t.Errorf("beside the first one: got %v", why)
	}
	r.troubled(r.Trouble(), "keeps dying")
	c.call("echo", "")
	r.troubled(r.Trouble(), "")
	r.open("b")
}

func TestStartThatIsRefusedIsNoTrouble(t *testing.T) {
	r := newRig(t, "refusing")
	exchangetest.ReadAll(t, r.reach(r.request(wire.MethodPost, "", "", opening)))
	r.troubled(r.Trouble(), "")
}

// A server that speaks the modern era alone cannot be reached by stdio: that is trouble, and its refusal of berth's own initialize is no answer to a client.
func TestAServerWithoutTheLegacyEraIsInTrouble(t *testing.T) {
	r := newRig(t, "modern")
	if why := r.unopened(""); why.Reason != ReasonProcessFailed || !strings.Contains(why.Message, "speaks no revision of the legacy era") {
		t.Errorf("got %v", why)
	}
	r.troubled(r.Trouble(), "speaks no revision of the legacy era")
	if !strings.Contains(r.log.String(), "level=WARN msg=\"stdio process refuses initialize") {
		t.Error("the log says nothing")
	}
}

func TestTrialsBecomeRarer(t *testing.T) {
	b := breaker{trial: 5 * time.Second}
	now := time.Unix(1000, 0)
	b.died(now, true)
	for i, pause := range []time.Duration{1, 1, 2, 4, 5, 5} {
		if now = now.Add(pause*time.Second - 1); b.admitTrial(now) {
			t.Errorf("trial %d is early", i)
		}
		if now = now.Add(1); !b.admitTrial(now) {
			t.Errorf("trial %d is not due", i)
		}
	}
	if _, ok := b.admit(now); !ok || b.deaths != 1 {
		t.Errorf("trials keep clients away, after %d deaths", b.deaths)
	}
}
