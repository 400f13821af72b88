//go:build e2e

package integration

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// sessionHolders are berths on one Redis that hold calls in the sessions of clients of
// 2025-11-25.
type sessionHolders struct {
	*holders
	server askingServer
	redis  *redistest.Server
}

// sealed is a line of [store] with which another berth can go on with what a client's
// credentials authorise.
func sealed() string {
	return fmt.Sprintf("seal_key = %q\n", base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
}

// newSessionHolders starts a server of n instances, and Redis. keys are lines of [store]
// beside its url.
func newSessionHolders(t testing.TB, server askingServer, n int, keys string, redisArgs ...string) *sessionHolders {
	t.Helper()
	return sessionHoldersOf(t, server, server.fleet(t, n), keys, redisArgs...)
}

func sessionHoldersOf(t testing.TB, server askingServer, f fleet, keys string, redisArgs ...string) *sessionHolders {
	t.Helper()
	redis := redistest.Start(t, redisArgs...)
	return &sessionHolders{
		holders: &holders{fleet: &localFleet{fleet: f}, config: holderConfig(t, redis.URL(), keys, server.rules)},
		server:  server, redis: redis,
	}
}

// startGated starts one more berth, behind whose back a gate lets so many events of each
// answer through.
func (h *sessionHolders) startGated(t testing.TB, events int, args ...string) (*watched, *eventGate) {
	t.Helper()
	fronts, gates := h.fleet.fleet.gated(t, events)
	b := startWatched(t, fronts, append([]string{"--config", h.config}, args...)...)
	h.berths = append(h.berths, b)
	return b, gates[0]
}

// heldUse is a task that a client was given for its use of a tool.
type heldUse struct {
	toolUse
	client *legacyClient
	call   string
	task   string
	thinks time.Duration // the longest that its client takes to answer
}

// use calls a tool through b.
func (h *sessionHolders) use(t testing.TB, c *legacyClient, b *watched, call string, use func(string) toolUse) heldUse {
	t.Helper()
	u := heldUse{toolUse: use(call), client: c, call: call}
	var err error
	if u.task, err = c.call(t.Context(), b.url(), u.tool, u.arguments); err != nil {
		t.Fatalf("%s: %v", call, err)
	}
	return u
}

// awaitStatus waits until a berth shows a task as wanted.
func (u heldUse) awaitStatus(t testing.TB, b *watched, want string) {
	t.Helper()
	var last legacyMessage
	if !await(t, readyWithin, func() bool {
		view, got, err := u.client.look(t.Context(), b.url(), u.task)
		last = got
		return err == nil && view.Status == want
	}) {
		t.Fatalf("%s: got %s, want it %s", u.call, last.whole, want)
	}
}

// awaitProgress waits until a berth shows how far a task is.
func (u heldUse) awaitProgress(t testing.TB, b *watched) {
	t.Helper()
	if !await(t, readyWithin, func() bool {
		_, got, err := u.client.look(t.Context(), b.url(), u.task)
		return err == nil && strings.Contains(got.whole, `"statusMessage"`)
	}) {
		t.Fatalf("%s tells nothing", u.call)
	}
}

// awaitHeard waits until a berth shows that something came of a call.
func (u heldUse) awaitHeard(t testing.TB, b *watched) {
	t.Helper()
	if u.asks > 0 {
		u.awaitStatus(t, b, "input_required")
		return
	}
	u.awaitProgress(t, b)
}

// attendance is what a client has seen of its task, which it has asked for until it had
// the result.
type attendance struct {
	response legacyMessage
	shown    map[string]int // by id of the ask
	answered map[string]int // of these, answers that were taken
	again    int            // shown although an answer was taken
	retries  int            // requests that got no answer
	thinks   time.Duration  // the longest that an answer takes
}

// attendWithin bounds the life of a task, that of an orphan included.
const attendWithin = time.Minute

// attend asks for the result of a task, at any of the berths that pick gives, and answers
// what it is asked, until it has the result.
func (u heldUse) attend(t testing.TB, pick func() *watched) attendance {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), attendWithin)
	defer cancel()
	a := attendance{shown: map[string]int{}, answered: map[string]int{}, thinks: u.thinks}
	for ctx.Err() == nil {
		got, err := u.client.follow(ctx, pick().url(), "tasks/result", map[string]any{"taskId": u.task}, func(m legacyMessage) {
			if m.asks() {
				a.answer(ctx, u, m, pick)
			}
		})
		if err == nil && !passing(got) {
			a.response = got
			return a
		}
		a.retries++
		pauseFor(ctx, pollPause)
	}
	t.Errorf("%s (%s) does not end", u.call, u.task)
	return a
}

// passing reports whether an error is to be tried again: a store that is away, a berth that
// drains.
func passing(m legacyMessage) bool {
	return m.Error != nil && m.Error.Code <= -31500 && m.Error.Code >= -31599
}

func pauseFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// answer answers an ask of the server's, at whichever berth takes it.
func (a *attendance) answer(ctx context.Context, u heldUse, m legacyMessage, pick func() *watched) {
	id := string(m.ID)
	a.shown[id]++
	if a.answered[id] > 0 {
		a.again++
	}
	if a.thinks > 0 {
		pauseFor(ctx, rand.N(a.thinks))
	}
	for ctx.Err() == nil {
		status, err := u.client.post(ctx, pick().url(), answerTo(m, u.task))
		switch {
		case err == nil && status/100 == 2:
			a.answered[id]++
			return
		case err == nil && status/100 == 4: // the session is gone
			return
		}
		a.retries++
		pauseFor(ctx, pollPause)
	}
}

// answerTo is what the clients of these tests answer: the name of the task.
func answerTo(m legacyMessage, task string) string {
	result := fmt.Sprintf(`{"action":"accept","content":{"confirm":true,"name":%q}}`, task)
	if m.Method == "sampling/createMessage" {
		result = fmt.Sprintf(`{"role":"assistant","model":"none","content":{"type":"text","text":%q}}`, task)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// wantRight fails the test unless the result is the right one, each ask was answered, and
// none was shown to a client whose answer had been taken.
func (a attendance) wantRight(t testing.TB, u heldUse) {
	t.Helper()
	if !u.right(a.response) {
		t.Errorf("%s: got %s, want %q in its result", u.call, a.response.whole, u.want(u.task))
	}
	if len(a.answered) != u.asks || a.again != 0 {
		t.Errorf("%s: got asks shown %v, answered %v, %d of them again, want %d answered once", u.call, a.shown, a.answered, a.again, u.asks)
	}
}

// right reports whether a response is the result of the call.
func (u heldUse) right(response legacyMessage) bool {
	var result struct {
		IsError bool
		Content []struct{ Text string }
		Answers struct {
			Answers []json.RawMessage
		} `json:"structuredContent"`
	}
	if json.Unmarshal(response.Result, &result) != nil || result.IsError {
		return false
	}
	text := ""
	for _, c := range result.Content {
		text += c.Text
	}
	for _, answer := range result.Answers.Answers {
		text += string(answer)
	}
	return strings.Contains(text, u.want(u.task))
}

// attendAll attends tasks, all at once, and wants each of them right.
func attendAll(t testing.TB, uses []heldUse, berths ...*watched) {
	t.Helper()
	var clients sync.WaitGroup
	for _, u := range uses {
		clients.Go(func() {
			u.attend(t, func() *watched { return berths[rand.IntN(len(berths))] }).wantRight(t, u)
		})
	}
	clients.Wait()
}

// wantOnce fails the test unless the server's tools have run that many calls, each of them
// once, to its end.
func (h *sessionHolders) wantOnce(t testing.TB, calls int) {
	t.Helper()
	await(t, readyWithin, func() bool { return h.fleet.fleet.sum(t, stats.running) == 0 })
	h.fleet.fleet.wantToolCalls(t, calls)
	if got := h.fleet.fleet.sum(t, stats.repeats); got != 0 {
		t.Errorf("calls that were run twice: got %d, want none", got)
	}
	if got := h.fleet.fleet.sum(t, stats.running); got != 0 {
		t.Errorf("tools that still run: got %d, want none", got)
	}
}

// wantAdopted fails the test unless b has taken over that many calls, and ended none for
// its holder's death.
func (b *watched) wantAdopted(t testing.TB, n int) {
	t.Helper()
	if got := b.metric(t, "berth_upgrade_adopted_total"); got != n {
		t.Errorf("calls taken over: got %d, want %d", got, n)
	}
	if got := b.metric(t, "berth_upgrade_orphans_total"); got != 0 {
		t.Errorf("calls ended for a dead holder: got %d, want none", got)
	}
}
