//go:build e2e

package integration

import (
	"context"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// Berths are killed at all moments of calls that they hold in one session. Another one
// goes on where they were: each tool runs once, each question is answered once.
func TestCallsOfASessionOutliveTheirHolders(t *testing.T) {
	for _, server := range askingServers {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h := newCoreHolders(t, server, 1, sealed())
			written := h.redis.Monitor()
			heir := h.start(t)
			client := openSession(t, heir.url(), "alice")
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
			hold("while it asks", asked, server.asking).awaitStatus(t, heir, "input_required")
			answered, _ := h.startGated(t, server.askAt)
			taken := hold("after the answer", answered, server.asking)
			full, cut, last := h.startCut(t)
			end := hold("with the outcome", full, server.asking)
			awaitStored(first, 1)
			awaitStored(some, 3)

			taken.awaitStatus(t, heir, "input_required")
			end.awaitStatus(t, heir, "input_required")
			cut.Drop.Store(true)
			for _, u := range []heldUse{taken, end} {
				u.answerOne(t, answered)
			}
			if !await(t, readyWithin, func() bool { return last.whole() == 1 }) {
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
			attendAll(t, uses, heir)
			h.wantOnce(t, len(uses))
			heir.wantAdopted(t, len(uses))
		})
	}
}

// startCut starts one more berth, that can be cut off from Redis.
func (h *coreHolders) startCut(t testing.TB) (*watched, *redistest.Relay, *eventGate) {
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
	asked := make(chan coreMessage, 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		_, _ = u.client.follow(ctx, b.url(), "tasks/result", map[string]any{"taskId": u.task}, func(m coreMessage) { asked <- m })
	}()
	select {
	case m := <-asked:
		if status, err := u.client.post(ctx, b.url(), answerTo(m, u.task)); status != 202 {
			t.Fatalf("%s: an answer: got %d, %v, want 202", u.call, status, err)
		}
	case <-ctx.Done():
		t.Fatalf("%s is not asked for", u.call)
	}
}
