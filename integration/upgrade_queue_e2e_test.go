//go:build e2e

package integration

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// What was not sent when its holder died is gone on with, once, by whoever has what it
// takes to send it.
func TestQueuedCallsGoOnWhenTheirHolderDies(t *testing.T) {
	key := fmt.Sprintf("seal_key = %q\n", base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	for _, c := range []struct {
		name   string
		keys   string // of [store]
		own    string // Authorization of berth's own
		token  string // of the client
		sent   string // Authorization that reaches the upstream
		resume bool
	}{
		{name: "without credentials", resume: true},
		{name: "with sealed credentials", keys: key, token: "alice", sent: "Bearer alice", resume: true},
		{name: "with berth's own credentials", own: "Bearer berth", token: "alice", sent: "Bearer berth", resume: true},
		{name: "with credentials that are kept nowhere", token: "alice", sent: "Bearer alice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHolders(t, sharedStore(t), c.keys, heldRules)
			if c.own != "" {
				h.authorize(t, c.own)
			}
			h.client.token = c.token
			victim, other := h.start(t), h.start(t)
			tasks := h.make(t, victim, "queued", 12)
			h.tool.awaitRuns(t, len(h.fleet.fleet))
			sent, unsent := h.sent(tasks)
			if len(sent) != len(h.fleet.fleet) {
				t.Fatalf("calls sent: got %d, want one to each upstream", len(sent))
			}

			victim.kill()
			h.tool.letAll()
			h.awaitLost(t, []*watched{other}, sent, true)
			h.wantCredentials(t, sent, c.sent)
			if c.resume {
				h.awaitDone(t, []*watched{other}, unsent)
				h.wantCredentials(t, unsent, c.sent)
			} else {
				h.awaitLost(t, []*watched{other}, unsent, false)
				h.awaitEach(t, []*watched{other}, unsent, "failed for want of credentials", func(_ heldTask, s seen) bool {
					return strings.Contains(s.Error.Message, "credentials") && strings.Contains(s.Message, "credentials")
				})
			}
			h.tool.wantNoneTwice(t)
			h.tool.wantAtMost(t, "queued", 1)
		})
	}
}

// sent tells tasks apart whose calls were sent.
func (h *holders) sent(tasks []heldTask) (sent, unsent []heldTask) {
	for _, task := range tasks {
		if h.tool.ran(task.call) > 0 {
			sent = append(sent, task)
		} else {
			unsent = append(unsent, task)
		}
	}
	return sent, unsent
}

func (h *holders) wantCredentials(t testing.TB, tasks []heldTask, want string) {
	t.Helper()
	for _, task := range tasks {
		if got := h.tool.calledBy(task.call); got != want {
			t.Errorf("%s: Authorization: got %q, want %q", task.call, got, want)
		}
	}
}

// A flush takes the places with it that calls have. Nobody is given one before those who
// have theirs could say so.
func TestFlushGivesNoPlaceTwice(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	h := newHolders(t, redis.URL(), "", heldRules)
	h.config = h.reconfigured(t, `holder_lease = "`+holderLease, `holder_lease = "6s`)
	a, b := h.start(t), h.start(t)
	tasks := h.make(t, a, "queued", 6)
	h.tool.awaitRuns(t, len(h.fleet.fleet))
	redis.Do("FLUSHALL")
	tasks = append(tasks, h.make(t, b, "queued", 6)...)
	<-time.After(longOutage) // in which those who wait look for a place more than once
	h.tool.letAll()
	h.awaitDone(t, h.berths, tasks)
	h.tool.wantNoneTwice(t)
	h.tool.wantAtMost(t, "queued", 1)
}
