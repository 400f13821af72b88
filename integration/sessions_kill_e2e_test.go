//go:build e2e

package integration

import (
	"context"
	"testing"

	"berth/internal/storage/redistest"
)

// Berths are killed at all moments of calls that they hold in one session. Another one
// goes on where they were: each tool runs once, each question is answered once.
func TestCallsOfASessionOutliveTheirHolders(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h := newSessionHolders(t, server, 1, sealed())
			written := h.redis.Monitor()
			adopter := h.start(t)
			client := openSession(t, adopter.url(), "alice")
			var uses []heldUse
			hold := func(call string, b *watched, use func(string) toolUse) heldUse {
				u := h.use(t, client, b, call, use)
				uses = append(uses, u)
				return u
			}
			awaitStored := func(g *eventGate, events int) {
				t.Helper()
				if !await(t, readyWithin, func() bool { return g.passed() == events && written.Count(g.lastEvent()) > 0 }) {
					t.Fatalf("event %s, of %d, is not stored", g.lastEvent(), g.passed())
				}
			}

			// What the gates keep back reaches whoever resumes.
			early, first := h.startGated(t, 1)
			hold("before a message came", early, server.slow)
			amidst, some := h.startGated(t, 3)
			hold("between messages", amidst, server.slow)
			asked, _ := h.startGated(t, -1)
			hold("while it asks", asked, server.asking).awaitStatus(t, adopter, "input_required")
			answered, _ := h.startGated(t, server.askAt)
			taken := hold("after the answer", answered, server.asking)
			full, cut, last := h.startCut(t)
			end := hold("with the outcome", full, server.asking)
			awaitStored(first, 1)
			awaitStored(some, 3)

			taken.awaitStatus(t, adopter, "input_required")
			end.awaitStatus(t, adopter, "input_required")
			cut.Drop.Store(true)
			for _, u := range []heldUse{taken, end} {
				u.answerOne(t, answered)
			}
			if !await(t, readyWithin, func() bool { return last.responses() == 1 }) {
				t.Fatal("the outcome did not come")
			}
			for _, b := range []*watched{early, amidst, asked, answered, full} {
				b.kill()
			}
			for i, u := range uses {
				if i >= 3 {
					u.asks = 0 // that was before
				}
				uses[i] = u
			}
			attendAll(t, uses, adopter)
			h.wantOnce(t, len(uses))
			adopter.wantAdopted(t, len(uses))
		})
	}
}

// startCut starts one more berth, that can be cut off from Redis.
func (h *sessionHolders) startCut(t testing.TB) (*watched, *redistest.Relay, *eventGate) {
	t.Helper()
	relay := &redistest.Relay{}
	relay.Start(t, h.redis.Addr)
	b, g := h.startGated(t, -1, "--store", "redis://"+relay.Addr()+"/0")
	b.awaitReadyz(t, storeOK)
	return b, relay, g
}

// answerOne answers the one question of a call, through b.
func (u heldUse) answerOne(t testing.TB, b *watched) {
	t.Helper()
	if status, err := u.client.post(t.Context(), b.url(), answerTo(u.shown(t, b), u.task)); status != 202 {
		t.Fatalf("%s: an answer: got %d, %v, want 202", u.call, status, err)
	}
}

// shown is the question of a call, as b gives it to the client.
func (u heldUse) shown(t testing.TB, b *watched) legacyMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), attendWithin)
	defer cancel()
	asked := make(chan legacyMessage, 1)
	go func() {
		_, _ = u.client.follow(ctx, b.url(), "tasks/result", map[string]any{"taskId": u.task}, func(m legacyMessage) {
			if m.asks() {
				asked <- m
			}
		}) // it is left before its end
	}()
	select {
	case m := <-asked:
		return m
	case <-ctx.Done():
		t.Fatalf("%s is not asked for", u.call)
		return legacyMessage{}
	}
}

// Another berth goes on with a call if it has what authorises it. Else nobody can know
// what the tool did, and the task says so.
func TestCallsOfASessionGoOnWithTheirCredentials(t *testing.T) {
	for _, c := range []struct {
		name    string
		keys    string // of [store]
		own     string // Authorization of berth's own
		token   string // of the client
		resumed string // Authorization with which the stream is; "-": it is not
	}{
		{name: "none", resumed: ""},
		{name: "sealed", keys: sealed(), token: "alice", resumed: "Bearer alice"},
		{name: "berth's own", own: "Bearer berth", token: "alice", resumed: "Bearer berth"},
		{name: "kept nowhere", token: "alice", resumed: "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			errands := errandFleet(t, 1, nil)
			h := sessionHoldersOf(t, demoServer, errands.fleet, c.keys)
			if c.own != "" {
				h.authorize(t, c.own)
			}
			victim, adopter := h.start(t), h.start(t)
			client := openSession(t, victim.url(), c.token)
			uses := []heldUse{h.use(t, client, victim, "asks", askingErrand), h.use(t, client, victim, "works", slowErrand)}
			uses[0].awaitStatus(t, adopter, "input_required")
			uses[1].awaitProgress(t, adopter)
			victim.kill()
			if c.resumed == "-" {
				for _, u := range uses {
					u.wantLost(t, adopter, "holder_lost")
				}
				h.wantOnce(t, len(uses))
				return
			}
			attendAll(t, uses, adopter)
			h.wantOnce(t, len(uses))
			adopter.wantAdopted(t, len(uses))
			if got := errands.servers[0].LastHeader("GET").Get("Authorization"); got != c.resumed {
				t.Errorf("the stream was resumed as %q, want as %q", got, c.resumed)
			}
		})
	}
}

// wantLost fails the test unless a task ends as failed for this reason, and says that the
// tool may have run.
func (u heldUse) wantLost(t testing.TB, b *watched, reason string) {
	t.Helper()
	if got := u.attend(t, func() *watched { return b }).response; !got.Error.lost(reason) {
		t.Errorf("%s: got %s, want it failed as %s", u.call, got.whole, reason)
	}
	u.awaitStatus(t, b, "failed")
}

// What gave no event to resume from is lost with its holder: a stream of which nothing had
// come, and streams without ids. The tools are not run again.
func TestCallsWithoutEventIDsEndWithTheirHolder(t *testing.T) {
	for _, c := range []struct {
		name   string
		server askingServer
		events int // that come
	}{
		{name: "nothing came", server: askingServers[2]},
		{name: "SDK v1 without an event store", events: -1, server: askingServer{
			fleet: func(t testing.TB, n int) fleet { return interactiveFleet(t, n, noReplays) }, rules: allTools, slow: computation}},
		{name: "go-sdk without an event store", events: -1, server: askingServer{
			fleet: func(t testing.TB, n int) fleet { return sessionsFleet(t, n, false) }, rules: allTools, slow: computation}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newSessionHolders(t, c.server, 1, sealed())
			adopter := h.start(t)
			victim, _ := h.startGated(t, c.events)
			u := h.use(t, openSession(t, adopter.url(), "alice"), victim, "slow", c.server.slow)
			if !await(t, readyWithin, func() bool { return h.fleet.fleet.sum(t, stats.running) == 1 }) {
				t.Fatal("the tool does not run")
			}
			victim.kill()
			u.wantLost(t, adopter, "holder_lost")
			h.wantOnce(t, 1)
		})
	}
}
