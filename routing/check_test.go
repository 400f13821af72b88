package routing_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/routing"
	"berth/routing/health"
	"berth/routing/profile"
)

// clinic checks upstreams, and knows how they are.
type clinic struct {
	mu    sync.Mutex       // guards the fields below
	sick  map[string]error // by host
	seen  []string         // "name host", in order
	times map[string][]time.Time
	log   realtest.Journal
}

func (c *clinic) examine(ctx context.Context, u *routing.Upstream, by health.Check) error {
	c.mu.Lock()
	err := c.sick[u.URL.Host]
	c.seen = append(c.seen, u.Name+" "+u.URL.Host)
	if c.times == nil {
		c.times = map[string][]time.Time{}
	}
	c.times[u.Name] = append(c.times[u.Name], time.Now())
	c.mu.Unlock()
	if errors.Is(err, errFrozen) {
		<-ctx.Done()
	}
	return err
}

var errFrozen = errors.New("frozen")

// falls has the server at a host answer so; nil: it is well.
func (c *clinic) falls(host string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sick == nil {
		c.sick = map[string]error{}
	}
	c.sick[host] = err
}

func (c *clinic) checks(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.times[name])
}

var byDiscover = health.Check{Kind: health.CheckDiscover, Interval: 5 * time.Second, Timeout: 2 * time.Second, Rise: 2, Fall: 3}

// at are upstreams of these names, each at the host of its name.
func at(names ...string) []*routing.Upstream {
	list := upstreams(names...)
	for _, u := range list {
		u.URL = &url.URL{Scheme: "http", Host: u.Name, Path: "/mcp"}
	}
	return list
}

// examined is a pool of upstreams of these names that is checked, and runs.
func examined(t *testing.T, c *clinic, by health.Check, names ...string) *routing.Pool {
	t.Helper()
	p := routing.NewPool(routing.PoolOptions{
		Name: "p", Upstreams: at(names...), Settings: routing.Settings{Check: by}, Probe: mute, Examine: c.examine,
		Logger: slog.New(slog.NewTextHandler(&c.log, nil)),
	})
	run(t, p)
	return p
}

// wantState fails the test unless the upstream is in that state, as long as since.
func wantState(t *testing.T, p *routing.Pool, name, state string, since time.Duration) {
	t.Helper()
	got := p.Find(name).State()
	if got.Name != state || state != health.StateOK && time.Since(got.Since) != since {
		t.Errorf("%s: got %v for %v, want %s for %v", name, got, time.Since(got.Since), state, since)
	}
}

// New work avoids a frozen upstream after fall intervals and one time-out at most, and comes
// back after rise passed checks.
func TestUpstreamThatFailsItsChecksGetsNoNewWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(clinic)
		p := examined(t, c, byDiscover, "a", "b")
		synctest.Wait()
		wantState(t, p, "a", health.StateOK, 0)
		c.falls("a", errFrozen) // just after a check: the worst time
		time.Sleep(3*byDiscover.Interval + byDiscover.Timeout - time.Millisecond)
		wantState(t, p, "a", health.StateOK, 0)
		time.Sleep(2 * time.Millisecond)
		wantState(t, p, "a", health.StateFailing, time.Millisecond)
		if got := shares(t, p, 50, keyless); got["a"] > 0 {
			t.Errorf("got %v, want none at a", got)
		}
		if got := p.Find("a").State(); got.Check.Row != 3 || !errors.Is(got.Check.Error, errFrozen) || got.Check.Took != byDiscover.Timeout {
			t.Errorf("got check %+v", got.Check)
		}
		time.Sleep(time.Hour)
		c.falls("a", nil)
		time.Sleep(byDiscover.Interval)
		if got := p.Find("a").State().Name; got != health.StateFailing {
			t.Errorf("after one passed check: %s", got)
		}
		time.Sleep(byDiscover.Interval)
		wantState(t, p, "a", health.StateOK, 0)
		log := c.log.String()
		if n := strings.Count(log, "upstream fails its checks"); n != 1 || !strings.Contains(log, "upstream=a error=frozen") {
			t.Errorf("%d lines of its failing, want one with name and reason:\n%s", n, log)
		}
		if n := strings.Count(log, `msg="upstream passes its checks" pool=p upstream=a`); n != 2 {
			t.Errorf("%d lines that it passes, want one at first and one after:\n%s", n, log)
		}
	})
}

// One that fails every other check neither leaves nor comes back each time.
func TestFlappingUpstreamStaysWhereItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(clinic)
		p := examined(t, c, byDiscover, "a", "b")
		time.Sleep(time.Second) // between two checks
		flap := func(n int) {
			for i := range n {
				c.falls("a", map[bool]error{true: errBroken}[i%2 == 0])
				time.Sleep(byDiscover.Interval)
			}
		}
		flap(20)
		wantState(t, p, "a", health.StateOK, 0)
		c.falls("a", errBroken)
		time.Sleep(3 * byDiscover.Interval)
		flap(20)
		if got := p.Find("a").State().Name; got != health.StateFailing {
			t.Errorf("got %s, want it out until it passes two in a row", got)
		}
	})
}

// What joins is to pass one check, and there are none without it. With nobody else it serves.
func TestUncheckedUpstreamsComeLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(clinic)
		c.falls("a", errBroken)
		p := routing.NewPool(routing.PoolOptions{Upstreams: at("a", "b"), Settings: routing.Settings{Check: byDiscover}, Examine: c.examine})
		wantState(t, p, "a", health.StateUnchecked, 0)
		if got := shares(t, p, 50, keyless); len(got) != 2 {
			t.Errorf("got %v, want both while nobody has passed", got)
		}
		run(t, p)
		synctest.Wait()
		wantState(t, p, "a", health.StateFailing, 0)
		wantState(t, p, "b", health.StateOK, 0)
		c.falls("new", errFrozen)
		p.Replace(at("a", "b", "new"))
		wantState(t, p, "new", health.StateUnchecked, 0)
		if got := shares(t, p, 50, keyless); got["b"] != 50 {
			t.Errorf("got %v, want all at the one that has passed", got)
		}
		c.falls("new", nil)
		time.Sleep(11 * time.Second)
		wantState(t, p, "new", health.StateOK, 0)
	})
}

// One that is back at another address is checked there at once.
func TestChangedAddressIsCheckedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(clinic)
		by := byDiscover
		by.Interval, by.Rise = time.Minute, 1
		p := examined(t, c, by, "a", "b")
		time.Sleep(time.Second) // between two checks
		c.falls("a", errBroken)
		time.Sleep(4 * time.Minute)
		wantState(t, p, "a", health.StateFailing, time.Minute+time.Second)
		moved := at("a", "b")
		moved[0].URL.Host = "elsewhere"
		p.Replace(moved)
		synctest.Wait()
		wantState(t, p, "a", health.StateOK, 0)
		if last := c.seen[len(c.seen)-1]; last != "a elsewhere" {
			t.Errorf("checked last: %s", last)
		}
		before := c.checks("b")
		p.Replace(moved)
		synctest.Wait()
		if c.checks("b") != before {
			t.Error("who has not moved was checked as well")
		}
	})
}

// An instance that is said to speak something else from now on is checked as one that does, at once: by what it was said before it might fail
// for good.
func TestChangedEraIsCheckedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := make(chan profile.Spoken, 10)
		list := func(era profile.Spoken) []*routing.Upstream {
			all := at("a", "b")
			all[0].Era = era
			return all
		}
		p := routing.NewPool(routing.PoolOptions{
			Name: "p", Upstreams: list(profile.SpokenLegacy), Settings: routing.Settings{Check: byDiscover}, Probe: mute,
			Examine: func(_ context.Context, u *routing.Upstream, _ health.Check) error {
				if u.Name == "a" {
					said <- u.Era
				}
				return nil
			},
		})
		run(t, p)
		for _, next := range []struct {
			era    profile.Spoken
			checks int // at once
		}{{profile.SpokenLegacy, 1}, {profile.SpokenLegacy, 0}, {profile.SpokenModern, 1}, {profile.SpokenUnsaid, 1}} {
			p.Replace(list(next.era))
			synctest.Wait()
			if len(said) != next.checks {
				t.Fatalf("%v: got %d checks at once, want %d", next.era, len(said), next.checks)
			}
			time.Sleep(byDiscover.Interval + time.Millisecond)
			synctest.Wait()
			if len(said) != next.checks+1 {
				t.Fatalf("%v: got %d checks in all, want %d", next.era, len(said), next.checks+1)
			}
			for range next.checks + 1 {
				if got := <-said; got != next.era {
					t.Errorf("checked as one of %v, want %v", got, next.era)
				}
			}
		}
	})
}

// Checks that begin while a pool serves take nobody out that has not failed them; with their end
// nobody fails any more.
func TestChecksBeginAndEndWhileThePoolServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(clinic)
		p := examined(t, c, health.Check{}, "a", "b")
		time.Sleep(time.Hour)
		if len(c.seen) > 0 {
			t.Fatalf("checked without a check: %v", c.seen)
		}
		c.falls("a", errBroken)
		p.Configure(routing.Settings{Check: byDiscover})
		wantState(t, p, "a", health.StateOK, 0)
		synctest.Wait()
		wantState(t, p, "a", health.StateOK, 0)
		time.Sleep(2 * byDiscover.Interval)
		synctest.Wait()
		wantState(t, p, "a", health.StateFailing, 0)
		p.Configure(routing.Settings{})
		wantState(t, p, "a", health.StateOK, 0)
		n := len(c.seen)
		time.Sleep(time.Hour)
		if len(c.seen) != n {
			t.Error("checked after the end of checks")
		}
	})
}

// Checks and what requests show do not change each other.
func TestChecksStandBesideSilenceAndEjection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(clinic)
		p := examined(t, c, byDiscover, "a", "b")
		synctest.Wait()
		a := p.Find("a")
		for range 5 {
			p.Failed(a, health.FailedStatus, errBroken)
		}
		time.Sleep(4 * time.Second)
		wantState(t, p, "a", health.StateEjected, 4*time.Second)
		c.falls("a", errBroken)
		time.Sleep(20 * time.Second)
		p.Succeeded(a)
		if got := a.State().Name; got != health.StateFailing {
			t.Errorf("after a request that succeeded: %s", got)
		}
	})
}

// Many berths with one configuration do not check all at the same moment.
func TestJitterSpreadsChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(clinic)
		by := byDiscover
		by.Jitter = 2 * time.Second
		examined(t, c, by, "a")
		time.Sleep(10 * time.Minute)
		c.mu.Lock()
		defer c.mu.Unlock()
		times, different := c.times["a"], map[time.Duration]bool{}
		for i := 1; i < len(times); i++ {
			pause := times[i].Sub(times[i-1])
			different[pause] = true
			if pause < by.Interval || pause > by.Interval+by.Jitter {
				t.Errorf("%v between two checks", pause)
			}
		}
		if len(different) < len(times)/2 {
			t.Errorf("%d different pauses among %d", len(different), len(times))
		}
	})
}

// An upstream that begins to be checked well comes back slowly.
func TestSlowStartAfterFailedChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(clinic)
		p := examined(t, c, byDiscover, "a", "b")
		p.Configure(routing.Settings{Check: byDiscover, SlowStart: time.Hour, Picker: routing.Random{}})
		synctest.Wait()
		const times = 12000
		time.Sleep(time.Second) // between two checks
		about(t, "at first", shares(t, p, times, keyless)["a"], times/2)
		c.falls("a", errBroken)
		time.Sleep(20 * time.Second)
		c.falls("a", nil)
		time.Sleep(10 * time.Second)
		about(t, "back", shares(t, p, times, keyless)["a"], times/11)
	})
}
