//go:build e2e

package integration

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

// A berth is killed and started again on its file: the first request of all finds every
// task seen to, and what was not sent is gone on with.
func TestRestartedBerthHasSeenToItsTasksBeforeItListens(t *testing.T) {
	t.Parallel()
	h := startHolders(t, 1, fileStore(t), "", heldRules)
	done := h.hold(t, h.berths[0], 5)
	h.tool.let(names(done)...)
	h.awaitDone(t, h.berths, done)
	held := h.hold(t, h.berths[0], 20)
	before := h.tool.running()
	queued := h.make(t, h.berths[0], "queued", 9)
	h.tool.awaitRuns(t, before+len(h.fleet.fleet))
	sent, unsent := h.sent(queued)

	h.berths[0].kill()
	after := h.start(t)
	for _, task := range append(held, sent...) {
		if s, ok := h.look(t, after, task); !ok || !s.lost(true) {
			t.Errorf("%s: got %s, want it failed as holder_lost", task.call, s.object)
		}
	}
	h.tool.letAll()
	last := []*watched{after}
	h.awaitDone(t, last, append(done, unsent...))
	h.tool.wantNoneTwice(t)
}

// E14: the disk is full. New calls go on as their rules say; what running ones return is
// stored once there is room.
func TestHeldCallsOutliveAFullDisk(t *testing.T) {
	t.Parallel()
	const enough = 2000 // more than the disk holds
	directory := t.TempDir()
	h := newHolders(t, "memory:", "", `
[[upgrade]]
tools = ["work"]
on_store_down = "sync"
[[upgrade]]
tools = ["careful"]
on_store_down = "refuse"
`)
	h.tool.pad(10 << 10)
	b := startOnSmallDisk(t, h.fleet.fleet, directory, "--config", h.config)
	h.berths = []*watched{b}
	held := h.hold(t, b, 5)
	full := false
	for i := 0; i < enough && !full; i++ {
		call := fmt.Sprintf("filler-%d", i)
		h.tool.let(call)
		got, err := h.call(t, b, "work", call)
		if err != nil || got.status != http.StatusOK {
			t.Fatalf("with a disk that fills up: got %v, %v, want a task or a plain answer", got, err)
		}
		full = strings.Contains(got.body, "done "+call)
	}
	if !full {
		t.Fatal("the disk is not full")
	}
	before := h.tool.running()
	if got, err := h.call(t, b, "careful", "never"); err != nil || got.status != http.StatusServiceUnavailable || got.Error.Code != -31503 {
		t.Errorf("a call that needs its task: got %v, %v, want 503 and -31503", got, err)
	}
	if n := h.tool.running() - before; n != 0 {
		t.Errorf("tools run for it: got %d, want none", n)
	}
	h.tool.pad(60 << 10) // what stays free of a full disk has room for less
	answered := h.tool.finished()
	h.tool.let(names(held)...)
	if !await(t, readyWithin, func() bool { return h.tool.finished() == answered+len(held) }) {
		t.Fatal("the tool did not answer")
	}
	h.awaitEach(t, h.berths, held, "working", func(_ heldTask, s seen) bool { return s.Status == "working" })
	if err := os.Remove(fmt.Sprintf("/proc/%d/root%s/ballast", b.command.Process.Pid, directory)); err != nil {
		t.Fatalf("making room: %v", err)
	}
	h.awaitDone(t, h.berths, held)
	h.tool.wantNoneTwice(t)
}
