//go:build e2e

package integration

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// startDraining starts a berth that has so long to drain, and another one on the same
// store.
func startDraining(t testing.TB, drain string) (h *holders, leaving, other *watched) {
	t.Helper()
	h = newHolders(t, redistest.Start(t).URL(), "", heldRules)
	staying := h.config
	h.config = h.reconfigured(t, `drain = "2s"`, `drain = "`+drain+`"`)
	leaving = h.start(t)
	h.config = staying
	return h, leaving, h.start(t)
}

// SIGTERM: calls that are held go on to their end, and so does one that comes on a connection which
// its client has kept: it is told that the connection closes, and is not turned away for that.
func TestTerminatedBerthFinishesItsHeldCalls(t *testing.T) {
	t.Parallel()
	h, leaving, other := startDraining(t, "30s")
	held := h.hold(t, leaving, 100)
	leaving.signal(t, syscall.SIGTERM)
	leaving.awaitUnready(t)
	late, err := h.call(t, leaving, "work", "late")
	if err != nil || late.Result.TaskID == "" {
		t.Errorf("a call on a kept connection: got %v, %v, want its handle", late, err)
	}
	held = append(held, heldTask{late.Result.TaskID, "late"})
	if !leaving.alive() {
		t.Fatal("berth did not wait for its calls")
	}
	h.tool.letAll()
	leaving.awaitExit(t, drainDefault+lastWords)
	wantExitCode(t, leaving, 0)
	for _, task := range held {
		if s, ok := h.look(t, other, task); !ok || s.Status != "completed" {
			t.Errorf("%s: got %s, want it completed", task.call, s.object)
		}
	}
	h.tool.wantNoneTwice(t)
}

// What the time to drain does not suffice for fails, and has failed when the process is
// gone. A call that was not sent is left to others.
func TestHeldCallsThatOutliveTheDrainFail(t *testing.T) {
	t.Parallel()
	h, leaving, other := startDraining(t, "1s")
	held := h.hold(t, leaving, 100)
	before := h.tool.running()
	queued := h.make(t, leaving, "queued", 9)
	h.tool.awaitRuns(t, before+len(h.fleet.fleet))
	sent, unsent := h.sent(queued)
	leaving.signal(t, syscall.SIGTERM)
	leaving.awaitUnready(t)
	leaving.awaitExit(t, time.Second+lastWords)
	wantExitCode(t, leaving, 0)
	h.wantShutDown(t, other, append(held, sent...))
	h.awaitHungUp(t, held)
	h.tool.letAll()
	h.awaitDone(t, []*watched{other}, unsent)
	h.tool.wantNoneTwice(t)
}

// E7: whoever asks twice does not want to wait. The tasks are failed all the same.
func TestSecondTerminationFailsHeldCallsAtOnce(t *testing.T) {
	t.Parallel()
	h, leaving, other := startDraining(t, "1h")
	held := h.hold(t, leaving, 100)
	leaving.signal(t, syscall.SIGTERM)
	leaving.awaitUnready(t)
	if !leaving.alive() {
		t.Fatal("berth did not wait for its calls")
	}
	began := time.Now()
	leaving.signal(t, syscall.SIGTERM)
	leaving.awaitExit(t, lastWords)
	t.Logf("%d held calls were failed and berth was gone after %v", len(held), time.Since(began).Round(time.Millisecond))
	h.wantShutDown(t, other, held)
	h.tool.wantNoneTwice(t)
}

func (b *watched) awaitUnready(t testing.TB) {
	t.Helper()
	if !await(t, lastWords, func() bool { status, _ := b.readyz(t); return status == http.StatusServiceUnavailable }) {
		t.Error("/readyz: want 503 while draining")
	}
}

// wantShutDown fails the test unless each task, at once, is shown as failed for the
// shutdown of its berth.
func (h *holders) wantShutDown(t testing.TB, b *watched, tasks []heldTask) {
	t.Helper()
	for _, task := range tasks {
		s, ok := h.look(t, b, task)
		if data := s.Error.Data; !ok || s.Status != "failed" || data.Reason != "shutdown" || data.MayHaveExecuted == nil || !*data.MayHaveExecuted {
			t.Errorf("%s: got %s, want it failed for the shutdown", task.call, s.object)
		}
	}
}

func wantExitCode(t testing.TB, b *watched, want int) {
	t.Helper()
	if got := b.command.ProcessState.ExitCode(); got != want {
		t.Errorf("exit code: got %d, want %d", got, want)
	}
	if strings.Contains(b.output.String(), `"level":"ERROR"`) {
		t.Error("the log has errors")
	}
}

// Two berths drain at the same time. What the first one leaves unsent, the second one,
// which cannot go on with it, leaves to the third.
func TestDrainingBerthEndsNothingThatOthersCanSend(t *testing.T) {
	t.Parallel()
	h, leaving, lingering := startDraining(t, "1s")
	lingering.kill()
	staying := h.config
	h.config = h.reconfigured(t, `drain = "2s"`, `drain = "1h"`)
	lingering = h.start(t)
	h.config = staying
	h.hold(t, lingering, 1)
	before := h.tool.running()
	queued := h.make(t, leaving, "queued", 9)
	h.tool.awaitRuns(t, before+len(h.fleet.fleet))
	_, unsent := h.sent(queued)

	lingering.signal(t, syscall.SIGTERM)
	lingering.awaitUnready(t)
	leaving.signal(t, syscall.SIGTERM)
	leaving.awaitExit(t, time.Second+lastWords)
	<-time.After(longOutage / 2) // in which the one that drains could act
	h.tool.letAll()
	h.awaitDone(t, []*watched{h.start(t)}, unsent)
	h.tool.wantNoneTwice(t)
}
