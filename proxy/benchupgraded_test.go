package proxy_test

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/seal"
	"berth/internal/storage/redistest"
	"berth/proxy"
	"berth/proxy/outbound"
	"berth/upgrade"
)

// lentUpgrading is a lentBerth whose rule makes a task of each call of the tool "greet", as the command fills it in.
type lentUpgrading struct {
	*proxy.Proxy
	tasks *upgrade.Tasks
}

func newLentUpgrading(tb testing.TB, store string) *lentUpgrading {
	tb.Helper()
	return newLentUpgradingTo(tb, store, newLentSender())
}

// newLentUpgradingTo is newLentUpgrading in front of what a sender reaches.
func newLentUpgradingTo(tb testing.TB, store string, sender exchange.Sender) *lentUpgrading {
	tb.Helper()
	u, at := new(lentUpgrading), openStore(tb, store)
	rule := everyTool(func(r *upgrade.Rule) { r.Tools, r.LivePerProcess = []string{"greet"}, 1_000_000 })
	u.Proxy = lentBerthTo(tb, sender, func(o *proxy.Options) {
		ep := o.Endpoints[0]
		o.Keys = seal.NewStoredKeyring(at)
		u.tasks = upgrade.New(upgrade.Options{
			Store: at, Keys: o.Keys, Logger: o.Logger, Meter: o.Meter, Troubles: o.Troubles,
			Pools: []upgrade.Destination{{Routing: ep.Router.Pool, Transport: outbound.Transport(ep)}},
		})
		o.Tasks, o.Rules = u.tasks, upgrade.Rules{rule}
	})
	ctx, cancel := context.WithCancel(tb.Context())
	over := make(chan struct{})
	go func() { defer close(over); _ = u.tasks.Run(ctx) }()
	tb.Cleanup(func() { cancel(); <-over })
	return u
}

// call makes a call of "greet", and waits for its outcome and for nothing to be held of it.
func (u *lentUpgrading) call(tb testing.TB, c *lentClient) {
	serveLent(tb, u.Proxy, c)
	for end := time.Now().Add(time.Minute); u.tasks.Held() > 0; runtime.Gosched() {
		if time.Now().After(end) {
			tb.Fatal("a call is held still")
		}
	}
}

// greeted makes a call of "greet" to its outcome, and returns the task's id.
func (u *lentUpgrading) greeted(tb testing.TB) (id string) {
	c := lentCases["call"]()
	c.kept = new(bytes.Buffer)
	u.call(tb, c)
	_, after, _ := bytes.Cut(c.kept.Bytes(), []byte(`"taskId":"`))
	before, _, whole := bytes.Cut(after, []byte(`"`))
	if !whole {
		tb.Fatalf("no handle: %s", c.kept)
	}
	return string(before)
}

// polled is a client that asks for the task with this id.
func polled(id string) *lentClient { return newLentClient("tasks/get", id, `"taskId":"`+id+`"`) }

// TestWhatAnUpgradedCallCosts bounds allocations, as TestWhatARequestCosts does.
func TestWhatAnUpgradedCallCosts(t *testing.T) {
	if underRace {
		t.Skip("the race detector has pools forget")
	}
	u, c := newLentUpgrading(t, "memory:"), lentCases["call"]()
	poll := polled(u.greeted(t))
	for name, one := range map[string]struct {
		most float64
		do   func()
	}{
		"a call, to its outcome": {67, func() { u.call(t, c) }},
		"a poll that tells it":   {14, func() { serveLent(t, u.Proxy, poll) }},
	} {
		if n := testing.AllocsPerRun(200, one.do); n > one.most {
			t.Errorf("%s: %v allocations, want at most %v", name, n, one.most)
		} else {
			t.Logf("%s: %v allocations", name, n)
		}
	}
}

// BenchmarkServeUpgraded is what is berth's own of a call that it makes a task of, from its request to its outcome, and of a
// poll that tells that.
func BenchmarkServeUpgraded(b *testing.B) {
	for _, kind := range []string{"memory", "redis"} {
		start := func(b *testing.B) *lentUpgrading {
			if kind == "redis" {
				return newLentUpgrading(b, redistest.Start(b).URL())
			}
			return newLentUpgrading(b, "memory:")
		}
		b.Run(kind+"/call", func(b *testing.B) {
			u, c := start(b), lentCases["call"]()
			u.call(b, c)
			b.ReportAllocs()
			for b.Loop() {
				u.call(b, c)
			}
		})
		b.Run(kind+"/poll", func(b *testing.B) {
			u := start(b)
			c := polled(u.greeted(b))
			b.ReportAllocs()
			for b.Loop() {
				serveLent(b, u.Proxy, c)
			}
		})
	}
}
