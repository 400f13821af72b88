package proxy_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/limit"
	"berth/proxy"
	"berth/proxy/inbound"
	"berth/upgrade"
)

// ruled is a berth with one rule for tools called "echo*", of 2 calls at once and one an hour.
func ruled(t *testing.T, per inbound.Per, store limit.RateStore, principals bool) *berth {
	t.Helper()
	return start(t, setup{
		upstreams: 1, principals: principals,
		endpoint: func(ep *proxy.Endpoint) {
			ep.Rates = []inbound.RateRule{{Limit: limit.NewShared("echoes", 1.0/3600, 2, store), Tools: []upgrade.Glob{"echo*"}, Per: per}}
		},
	})
}

func (b *berth) echo(header ...string) reply {
	return b.modern("tools/call", "echo", `"name":"echo","arguments":{"text":"x"}`, header...)
}

// limited checks that a reply tells its client to slow down.
func (r reply) limited(t *testing.T, what string) {
	t.Helper()
	if r.status != http.StatusTooManyRequests || r.code() != -31429 || r.header.Get("Retry-After") == "" {
		t.Errorf("%s: got %v with Retry-After %q, want 429, -31429 and when to come back", what, r, r.header.Get("Retry-After"))
	}
}

func TestToolsAreCalledAsOftenAsTheirRuleAllows(t *testing.T) {
	t.Parallel()
	b := ruled(t, inbound.PerPrincipal, nil, false)
	for range 2 {
		if r := b.echo(); r.status != http.StatusOK {
			t.Fatalf("got %v", r)
		}
	}
	sent := b.contacted()
	b.echo().limited(t, "the third call")
	if got := b.contacted(); got != sent {
		t.Error("what was refused was sent all the same")
	}
	b.legacy("", "tools/call", `"name":"echo","arguments":{"text":"x"}`).limited(t, "the older era")
	for range 5 {
		if r := b.modern("tools/call", "sleepless", `"name":"sleepless","arguments":{}`); r.status == http.StatusTooManyRequests {
			t.Errorf("a tool that no rule concerns: got %v", r)
		}
		if r := b.modern("tools/list", "", ""); r.status != http.StatusOK {
			t.Errorf("a list: got %v", r)
		}
	}
	if got := sumOf(t, b.metrics, "berth.rate.limited", "rule", "echoes"); got != 2 {
		t.Errorf("counted %d refusals, want 2", got)
	}
}

// A batch costs what is in it, and is let in or turned away whole.
func TestBatchesCountForEachOfTheirCalls(t *testing.T) {
	t.Parallel()
	b := ruled(t, inbound.PerPool, nil, false)
	session := b.open("2025-03-26")
	call := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`
	}
	if r := b.post("["+call("1")+","+call("2")+"]", "Mcp-Session-Id", session); r.status != http.StatusOK {
		t.Fatalf("got %v", r)
	}
	if r := b.post("["+call("3")+","+call("4")+"]", "Mcp-Session-Id", session); r.status != http.StatusTooManyRequests {
		t.Errorf("got %v, want 429", r)
	}
}

// A call without an id, which no rule would count, is sent to no upstream, alone or in a batch.
func TestNoCallPassesARuleForWantOfAnID(t *testing.T) {
	t.Parallel()
	b := ruled(t, inbound.PerPool, nil, false)
	session := b.open("2025-03-26")
	const call = `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`
	sent := b.contacted()
	for _, body := range []string{call, "[" + call + "]", `[{"jsonrpc":"2.0","id":1,"method":"ping"},` + call + "]"} {
		if r := b.post(body, "Mcp-Session-Id", session); r.status != http.StatusBadRequest || r.code() != -32600 {
			t.Errorf("%s: got %v, want 400 and -32600", body, r)
		}
	}
	if got := b.contacted(); got != sent {
		t.Errorf("%d were sent", got-sent)
	}
}

// Who is counted for what, each caller by itself.
func TestRulesCountForWhomTheySay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		per   inbound.Per
		other int // what another principal gets once the first has used the rate up
	}{{inbound.PerPrincipal, http.StatusOK}, {inbound.PerAddress, http.StatusTooManyRequests}, {inbound.PerPool, http.StatusTooManyRequests}} {
		b := ruled(t, c.per, nil, true)
		for range 2 {
			if r := b.echo(userHeader, "alice"); r.status != http.StatusOK {
				t.Fatalf("%s: got %v", c.per, r)
			}
		}
		b.echo(userHeader, "alice").limited(t, string(c.per))
		if r := b.echo(userHeader, "bob"); r.status != c.other {
			t.Errorf("%s: another principal gets %v, want %d", c.per, r, c.other)
		}
	}
}

// flaky is where rates are shared, while it is there.
type flaky struct {
	away  atomic.Bool
	asked atomic.Int64
}

func (f *flaky) Take(context.Context, string, int) (time.Duration, error) {
	f.asked.Add(1)
	if f.away.Load() {
		return 0, errors.New("away")
	}
	return 0, nil
}

func (f *flaky) Wait(ctx context.Context, key string, n int) (time.Duration, error) {
	return f.Take(ctx, key, n)
}

// While the store is away each process allows the rate by itself, and counts that.
func TestRulesHoldWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	store := new(flaky)
	b := ruled(t, inbound.PerPrincipal, store, false)
	for range 5 {
		if r := b.echo(); r.status != http.StatusOK {
			t.Fatalf("while the store allows it: got %v", r)
		}
	}
	store.away.Store(true)
	for range 2 {
		if r := b.echo(); r.status != http.StatusOK {
			t.Fatalf("by itself: got %v", r)
		}
	}
	b.echo().limited(t, "by itself, the third call")
	if got := sumOf(t, b.metrics, "berth.rate.alone", "rule", "echoes"); got != 3 {
		t.Errorf("counted %d by itself, want 3", got)
	}
	before := store.asked.Load()
	b.modern("tools/list", "", "")
	if store.asked.Load() != before {
		t.Error("a request that no rule concerns asked the store")
	}
}

// rated lets the tool "work" be called twice, and once more an hour.
func rated() rigOptions {
	return rigOptions{endpoint: func(ep *proxy.Endpoint) {
		ep.Rates = []inbound.RateRule{{Limit: limit.NewShared("work", 1.0/3600, 2, nil), Tools: []upgrade.Glob{"work"}, Per: inbound.PerPool}}
	}}
}

// Who repeats a call under its key is given the task that there is, whatever has been used up: nothing is made.
func TestARepetitionIsNoCallOfItsTool(t *testing.T) {
	t.Parallel()
	extension := newUpgraded(t, rated(), nil)
	extension.answers(sayResult(done))
	core := newPlain(t, rated(), nil, sayNothing)
	for era, f := range map[string]struct {
		call func(...string) reply
		id   func(reply) string
	}{
		"2026-07-28": {extension.callTool, extension.taskOf},
		"2025-11-25": {func(h ...string) reply { return core.callAsTask(`{}`, h...) }, func(r reply) string { return core.coreHandle(r).TaskID }},
	} {
		first := f.id(f.call("Idempotency-Key", "k"))
		again := func(what string) {
			t.Helper()
			for range 3 {
				if id := f.id(f.call("Idempotency-Key", "k")); id != first {
					t.Errorf("%s: %s: got %s, want %s", era, what, id, first)
				}
			}
		}
		again("there is room for one")
		f.id(f.call("Idempotency-Key", "another"))
		again("there is no room")
		f.call("Idempotency-Key", "a third").limited(t, era+": a call of another name")
		f.call("Idempotency-Key", "a third").limited(t, era+": and again")
		f.call().limited(t, era+": one without")
	}
}

// A call under a key that stays plain counts as any.
func TestAKeyOfAPlainCallSavesNothing(t *testing.T) {
	t.Parallel()
	f := newUpgraded(t, rated(), nil)
	f.plainServer("2025-06-18", `{"tools":{}}`, `[{"name":"work"}]`, sayResult(plainResult))
	f.greet()
	for range 2 {
		if r := f.callAsTask(`{}`, "Idempotency-Key", "k"); r.status != http.StatusOK {
			t.Fatalf("got %v", r)
		}
	}
	f.callAsTask(`{}`, "Idempotency-Key", "k").limited(t, "the third call")
}
