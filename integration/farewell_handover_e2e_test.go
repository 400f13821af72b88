//go:build e2e

package integration

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// forEver is longer than these tests may take: what depends on it does not come.
const forEver = "5m"

// A berth that goes hands over the calls of sessions whose streams can be resumed: it is gone at once,
// though it has hours to drain, and they go on elsewhere at once, though its lease has minutes.
func TestLeavingBerthHandsOverItsCallsOfSessions(t *testing.T) {
	for _, server := range []askingServer{askingServers[0], askingServers[3]} {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			h := newSessionHolders(t, server, 1, sealed())
			h.config = h.reconfigured(t, `drain = "2s"`, `drain = "1h"`)
			h.config = h.reconfigured(t, `holder_lease = "`+holderLease+`"`, `holder_lease = "`+forEver+`"`)
			leaving, other := h.start(t), h.start(t)
			client := openSession(t, leaving.url(), "alice")
			asking, working := h.use(t, client, leaving, "asks", server.asking), h.use(t, client, leaving, "works", server.slow)
			asking.awaitStatus(t, other, "input_required")
			working.awaitProgress(t, other)

			leaving.signal(t, syscall.SIGTERM)
			leaving.awaitExit(t, 2*lastWords)
			wantExitCode(t, leaving, 0)
			attendAll(t, []heldUse{asking, working}, other)
			h.wantOnce(t, 2)
			if got := h.fleet.fleet.sum(t, stats.cutOff); got != 0 {
				t.Errorf("calls given up at the server: got %d, want none", got)
			}
			if got := other.metric(t, "berth_upgrade_adopted_total"); got == 0 { // the one that works may have ended
				t.Error("no call was taken over")
			}
		})
	}
}

// So it does with calls that wait for their turn. What runs, and cannot be listened to elsewhere, has
// drain_held: more than requests have, and the process waits for no other.
func TestLeavingBerthKeepsWhatCannotBeHandedOver(t *testing.T) {
	t.Parallel()
	h := newHolders(t, redistest.Start(t).URL(), sealed(), heldRules)
	h.config = h.reconfigured(t, `drain = "2s"`, `drain = "1s"`)
	h.config = h.reconfigured(t, `drain_held = "2s"`, `drain_held = "1h"`)
	h.config = h.reconfigured(t, `holder_lease = "`+holderLease+`"`, `holder_lease = "`+forEver+`"`)
	leaving, other := h.start(t), h.start(t)
	held := h.hold(t, leaving, 10)
	before := h.tool.running()
	queued := h.make(t, leaving, "queued", 9)
	h.tool.awaitRuns(t, before+len(h.fleet.fleet))
	sent, unsent := h.sent(queued)

	leaving.signal(t, syscall.SIGTERM)
	leaving.awaitUnready(t)
	if !await(t, 2*lastWords, func() bool { return other.metric(t, "berth_upgrade_held") == len(unsent) }) {
		t.Errorf("calls that the other berth holds: got %d, want the %d that were not sent", other.metric(t, "berth_upgrade_held"), len(unsent))
	}
	<-time.After(3 * time.Second) // drain is over
	if got := leaving.metric(t, "berth_upgrade_held"); got != len(held)+len(sent) {
		t.Errorf("calls that the leaving berth holds: got %d, want the %d that run", got, len(held)+len(sent))
	}
	h.tool.letAll()
	leaving.awaitExit(t, 2*lastWords)
	wantExitCode(t, leaving, 0)
	h.awaitDone(t, []*watched{other}, append(append(held, sent...), unsent...))
	h.tool.wantNoneTwice(t)
	h.tool.wantAtMost(t, "queued", 1)
}

// A bridged call whose client is being asked outlives the drain of its berth, however its server is
// reached: where no other berth can go on with it, the one that goes waits for its client.
func TestBridgedQuestionOutlivesTheDrainOfItsBerth(t *testing.T) {
	for _, r := range reaches {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			site, store := r.startLegacy(t, 2), sharedStore(t)
			config := fmt.Sprintf("drain = \"1s\"\n[store]\nurl = %q\n%s", store, sealed())
			leaving, other := site.startWatched(t, config), site.startWatched(t, config)
			call := asksTwice(newAskingClient(t), "outlives")
			asked := call.begin(t, leaving.url())
			leaving.signal(t, syscall.SIGTERM)
			if r.resumes() {
				leaving.awaitExit(t, 2*lastWords)
			} else {
				<-time.After(3 * time.Second) // drain is over
			}
			if last := call.toTheEnd(t, other.url(), asked, "red", "blue"); last.said() != "outlives: red then blue" {
				t.Errorf("got %v, want both answers", last)
			}
			leaving.awaitExit(t, 2*lastWords)
			wantExitCode(t, leaving, 0)
			site.runs.wantOnce(t, "outlives")
		})
	}
}

// toTheEnd goes on with a call that asks its client, who gives these answers. What its server asks at the
// start of a session may come first: it is answered with something else.
func (c askedCall) toTheEnd(t testing.TB, url string, got round, answers ...string) round {
	t.Helper()
	for range 2 * len(answers) {
		if !got.asks() {
			break
		}
		answer := "anything"
		for _, q := range got.Result.InputRequests {
			if q.Method == "elicitation/create" && len(answers) > 0 {
				answer, answers = answers[0], answers[1:]
			}
		}
		got = c.goOn(t, url, got, answer)
	}
	return got
}

// In drain_delay berth serves as before, and says that it goes. A second signal ends that time, too.
func TestBerthServesOnWhileItIsNotReady(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	b := startWatched(t, fleet.fleet, "--config", configFile(t, "drain_delay = \"1h\"\n"))
	streams := subscribe(t, newModernClient(t), b, 3)
	b.signal(t, syscall.SIGTERM)
	b.awaitUnready(t)
	calls := startFlood(t, b.url(), 2, 0, false)
	calls.awaitMore(t, 50)
	calls.wantNoneFailed(t)
	if left := len(streams.ends); left != 0 {
		t.Errorf("streams that ended: %d, want none", left)
	}
	b.signal(t, syscall.SIGTERM)
	b.awaitExit(t, lastWords)
	wantExitCode(t, b, 0)
}
