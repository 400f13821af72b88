package proxy_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/proxy"
)

// once lets each caller do something once within the test's time.
const once = 1.0 / 600

// TestPollsTooOftenAreRefusedCheaply: without a look-up, and without a word to anybody.
func TestPollsTooOftenAreRefusedCheaply(t *testing.T) {
	b := start(t, setup{principals: true, options: func(o *proxy.Options) { o.Limits.Polls = once }})
	task, other := b.makeTask(userHeader, "alice"), b.makeTask(userHeader, "bob")
	poll := func(id, who string) reply { return b.modern("tasks/get", id, byID(id), userHeader, who) }
	if r := poll(task, "alice"); r.status != 200 || r.code() != 0 {
		t.Fatalf("the first poll gets %v", r)
	}
	contacted, looked := b.contacted(), b.storeOperations()
	for range 5 {
		poll(task, "alice").fails(t, 429, -31429, "rate_limited", true)
	}
	r := b.legacy("", "tasks/result", byID(task), userHeader, "alice")
	r.fails(t, 429, -31429, "rate_limited", true)
	if b.contacted() != contacted || b.storeOperations() != looked {
		t.Errorf("%d requests upstream and %d look-ups for refused polls", b.contacted()-contacted, b.storeOperations()-looked)
	}
	if r := poll(other, "bob"); r.status != 200 || r.code() != 0 {
		t.Errorf("another caller's poll gets %v", r)
	}
	if r := b.modern("tasks/cancel", task, byID(task), userHeader, "alice"); r.status != 200 || r.code() != 0 {
		t.Errorf("what is no poll gets %v", r)
	}
	if !b.labels("berth.shed", "reason")["polls"] {
		t.Error("not counted")
	}
}

// TestEachPollOfABatchCounts: a batch is no way around.
func TestEachPollOfABatchCounts(t *testing.T) {
	b := start(t, setup{upstreams: 1, options: func(o *proxy.Options) { o.Limits.Polls = 1 }})
	polls := "[" + strings.TrimSuffix(strings.Repeat(message("tasks/get", byID("x"))+",", 10), ",") + "]"
	if r := b.post(polls, "Mcp-Protocol-Version", "2025-03-26"); r.status == 429 {
		t.Fatalf("ten polls get %v", r)
	}
	b.post(message("tasks/get", byID("x"))).fails(t, 429, -31429, "rate_limited", true)
	if r := b.post(message("tools/list", ""), "Mcp-Protocol-Version", "2025-03-26"); r.status == 429 {
		t.Errorf("what is no poll gets %v", r)
	}
}

// TestTasksOfSubscriptionsCount: they are no way around either.
func TestTasksOfSubscriptionsCount(t *testing.T) {
	b := start(t, setup{upstreams: 1, options: func(o *proxy.Options) { o.Limits.Polls = once }})
	looked := b.storeOperations()
	filter := tasksFilter("", strings.Split("0123456789", "")...)
	listen := func() reply { return b.modern("subscriptions/listen", "", `"notifications":`+filter) }
	b.modern("tasks/get", "x", byID("x"))
	listen().fails(t, 429, -31429, "rate_limited", true)
	if n := b.storeOperations() - looked; n > 2 {
		t.Errorf("%d look-ups for a refused subscription", n)
	}
}

// TestPollsGoOnAfterTheTimeTold: a refusal says when, and then it is so.
func TestPollsGoOnAfterTheTimeTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{size: 1, options: func(o *proxy.Options) { o.Limits.Polls = 0.1 }})
		task := f.newTask(600)
		f.poll(task)
		r := f.poll(task)
		r.fails(t, 429, -31429, "rate_limited", true)
		seconds, err := strconv.Atoi(r.header.Get("Retry-After"))
		if err != nil || seconds < 1 || seconds > 10 {
			t.Fatalf("Retry-After %q, want 1 to 10 s", r.header.Get("Retry-After"))
		}
		time.Sleep(time.Duration(seconds) * time.Second)
		if r := f.poll(task); r.status != 200 || r.message(t).Error != nil {
			t.Errorf("after the time told a poll gets %v", r)
		}
	})
}

// TestGuessingIsSlowed: who names ids that nobody knows is told to slow down, and the
// fleet is left in peace; what is known goes on, and so do other callers.
func TestGuessingIsSlowed(t *testing.T) {
	b := start(t, setup{options: func(o *proxy.Options) { o.Limits.UnknownIDs, o.TrustedProxies = once, loopbackPeers }})
	from := []string{"X-Forwarded-For", "192.0.2.1"}
	task := b.makeTask(from...)
	guess := func(id string, from ...string) reply { return b.modern("tasks/get", id, byID(id), from...) }
	if r := guess("guess", from...); r.code() != -32602 {
		t.Fatalf("the first guess gets %v, want -32602", r)
	}
	asked := b.contacted()
	for i := range 5 {
		guess(fmt.Sprint("guess ", i), from...).fails(t, 429, -31429, "rate_limited", true)
	}
	b.legacy("guess", "ping", "", from...).fails(t, 429, -31429, "rate_limited", true)
	if n := b.contacted() - asked; n != 0 {
		t.Errorf("the fleet was asked %d times", n)
	}
	if r := guess(task, from...); r.status != 200 || r.code() != 0 {
		t.Errorf("a task that is known gets %v", r)
	}
	for _, other := range []string{"192.0.2.2", "192.0.2.1, 192.0.2.3"} {
		if r := guess("another guess", "X-Forwarded-For", other); r.code() != -32602 {
			t.Errorf("from %s: got %v, want -32602", other, r)
		}
	}
	if !b.labels("berth.shed", "reason")["unknown_ids"] {
		t.Error("not counted")
	}
}

// TestSubscriptionsAreNoWayToGuess: what a subscription leaves out of its
// acknowledgement counts as the guesses that it is.
func TestSubscriptionsAreNoWayToGuess(t *testing.T) {
	f := newRig(t, rigOptions{options: func(o *proxy.Options) { o.Limits.UnknownIDs = once }})
	task := f.newTask(60)
	for _, c := range []struct {
		ids    []string
		status int
	}{
		{[]string{task, "guess"}, 200},
		{[]string{task, "another"}, 429},
		{[]string{task}, 200},
	} {
		if s := f.subscribe("1", tasksFilter("", c.ids...)); s.status != c.status {
			t.Errorf("%v: got %d, want %d", c.ids, s.status, c.status)
		}
	}
}

// TestACallerIsWhereItComesFrom: the proxies in front are believed as far as they are
// trusted, and nobody else is.
func TestACallerIsWhereItComesFrom(t *testing.T) {
	limited := func(o *proxy.Options) { o.Limits.UnknownIDs = once }
	guess := func(b *berth, forwarded ...string) int {
		var header []string
		for _, value := range forwarded {
			header = append(header, "X-Forwarded-For", value)
		}
		return b.modern("tasks/get", "guess", byID("guess"), header...).status
	}
	b := start(t, setup{upstreams: 1, options: func(o *proxy.Options) { limited(o); o.TrustedProxies = loopbackPeers }})
	for _, c := range []struct {
		forwarded []string
		same      bool // as a caller before
	}{
		{[]string{"192.0.2.1"}, false},
		{[]string{"192.0.2.1:4711"}, true},
		{[]string{"192.0.2.9, 192.0.2.1"}, true},
		{[]string{"192.0.2.9", "192.0.2.1, 127.0.0.9"}, true},
		{[]string{"192.0.2.1, 192.0.2.2"}, false},
		{[]string{"2001:db8::1"}, false},
		{[]string{"[2001:db8::ffff]:4711"}, true},
		{[]string{"2001:db8:0:1::1"}, false},
		{[]string{"192.0.2.3, unknown"}, false}, // the peer
		{nil, true},
		{[]string{"127.0.0.9"}, false},
		{[]string{"192.0.2.4, unknown, 127.0.0.9"}, true},
	} {
		if got := guess(b, c.forwarded...) == 429; got != c.same {
			t.Errorf("%q: counted with one before %v, want %v", c.forwarded, got, c.same)
		}
	}
	b = start(t, setup{upstreams: 1, options: limited})
	if guess(b, "192.0.2.1"); guess(b, "192.0.2.2") != 429 {
		t.Error("a peer that is not trusted made up where it comes from")
	}
}

// TestUnknownSessionsCountAsGuesses: they are 404 until there are too many.
func TestUnknownSessionsCountAsGuesses(t *testing.T) {
	b := start(t, setup{upstreams: 1, options: func(o *proxy.Options) { o.Limits.UnknownIDs = once }})
	session := b.open("2025-11-25")
	if r := b.legacy("guess", "ping", ""); r.status != 404 {
		t.Fatalf("the first guess gets %v, want 404", r)
	}
	b.legacy("another", "ping", "").fails(t, 429, -31429, "rate_limited", true)
	if r := b.legacy(session, "ping", ""); r.status != 200 {
		t.Errorf("a session that is known gets %v", r)
	}
}

// TestSlowedGuessesTellNothing: beyond the limit, too, another's id is like none.
func TestSlowedGuessesTellNothing(t *testing.T) {
	b := start(t, setup{principals: true, options: func(o *proxy.Options) { o.Limits.UnknownIDs = once }})
	task := b.makeTask(userHeader, "alice")
	header := append(modernHeader("tasks/get", task), userHeader, "mallory")
	b.bytesOf(http.MethodPost, modernMessage("tasks/get", byID(task)), header...)
	foreign := b.modern("tasks/get", task, byID(task), userHeader, "mallory")
	none := b.modern("tasks/get", unknownLike(task), byID(unknownLike(task)), userHeader, "mallory")
	foreign.fails(t, 429, -31429, "rate_limited", true)
	none.fails(t, 429, -31429, "rate_limited", true)
	if foreign.parsed().Error.Message != none.parsed().Error.Message {
		t.Errorf("got %v for another's and %v for none", foreign, none)
	}
	if r := b.modern("tasks/get", task, byID(task), userHeader, "alice"); r.code() != 0 {
		t.Errorf("the owner gets %v", r)
	}
}

// TestWhatTheFleetKnowsIsNoGuess: after berth forgot everything, its clients' ids are
// unknown to the map, and yet nobody guesses.
func TestWhatTheFleetKnowsIsNoGuess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{options: func(o *proxy.Options) { o.Limits.UnknownIDs = once }})
		var tasks []string
		for range 5 {
			tasks = append(tasks, f.newTask(600))
		}
		for _, task := range tasks {
			f.bindings.Unbind(t.Context(), f.router.TaskKey("", task))
		}
		for _, task := range tasks {
			if r := f.poll(task); r.message(t).Error != nil {
				t.Errorf("got %v", r)
			}
		}
		if r := f.poll("guess"); r.message(t).Error.Code != -32602 {
			t.Errorf("got %v, want -32602", r)
		}
	})
}

// TestUnfitIDsAreNotLookedUp: nobody can hold such a session, and what is repeated in
// answers is bounded.
func TestUnfitIDsAreNotLookedUp(t *testing.T) {
	b := start(t, setup{options: func(o *proxy.Options) { o.Limits.SessionID = 100 }})
	for _, session := range []string{strings.Repeat("x", 101), "a b", "a\tb", "sé"} {
		if r := b.legacy(session, "ping", ""); r.status != 404 {
			t.Errorf("session %.20q: got %v, want 404", session, r)
		}
	}
	long := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"ping"}`, strings.Repeat("x", 2000))
	if r := b.post(long); r.status != 400 || r.code() != -32600 || strings.Contains(r.body, "xx") {
		t.Errorf("a long request id gets %v, want 400 without it", r)
	}
	if b.contacted() != 0 || b.storeOperations() != 0 {
		t.Errorf("%d requests upstream, %d look-ups, want none", b.contacted(), b.storeOperations())
	}
}

// TestHeaderLinesAreBounded: as configured.
func TestHeaderLinesAreBounded(t *testing.T) {
	b := start(t, setup{upstreams: 1, server: func(*mcptest.Server) {}, options: func(o *proxy.Options) { o.Limits.Headers = 30 }})
	var header []string
	for i := range 31 {
		header = append(header, fmt.Sprint("X-", i), "x")
	}
	if r := b.post(message("ping", ""), header...); r.status != 431 {
		t.Errorf("got %v, want 431", r)
	}
	if r := b.post(message("ping", ""), header[:40]...); r.status != 200 {
		t.Errorf("got %v, want 200", r)
	}
	for lines, want := range map[int]int{30: 404, 31: 431} { // Host is one of them
		if r := b.raw("GET /x HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-L: a\r\n", lines-1) + "\r\n"); r.status != want {
			t.Errorf("%d lines: got %v, want %d", lines, r, want)
		}
	}
	for names, want := range map[int]int{30: 404, 31: 431} { // whatever line they stand in
		named := strings.Repeat("a,", names-2) + "b\r\nConnection: c"
		if r := b.raw("GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: " + named + "\r\n\r\n"); r.status != want {
			t.Errorf("%d names in Connection: got %v, want %d", names, r, want)
		}
	}
}
