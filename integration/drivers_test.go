package integration

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// driver is a real client that makes many calls at once and judges each answer.
type driver func(t testing.TB) *exec.Cmd

// extensionTasks is the published TypeScript client with ext-tasks, for tasksFleet.
func extensionTasks(t testing.TB) *exec.Cmd {
	return nodeCommand(t, filepath.Join(clientsDir, "extension-tasks.js"))
}

// coreTasks is the published SDK v1 client with callToolStream, for everythingFleet.
func coreTasks(t testing.TB) *exec.Cmd {
	return nodeCommand(t, filepath.Join(clientsDir, "core-tasks.js"))
}

// goTasks is the published Go client trpc-mcp-go, for tasksFleet.
func goTasks(t testing.TB) *exec.Cmd {
	return exec.Command(built(t, "godriver"))
}

// driveWithin bounds a driver's run; its calls take a few seconds each and run at once.
const driveWithin = 2 * time.Minute

// report is what a driver says about its calls.
type report struct {
	Calls     int      `json:"calls"`
	Right     int      `json:"right"`     // calls that came back with the answer they must have
	Polls     int      `json:"polls"`     // tasks/* requests sent
	LostPolls int      `json:"lostPolls"` // of these, answered with an error or not at all
	Errors    []string `json:"errors"`    // the first few complaints
}

// drive runs a driver against an MCP endpoint, to its end.
func drive(t testing.TB, driver driver, url string, calls int) report {
	t.Helper()
	command := driver(t)
	command.Args = append(command.Args, "--url", url, "--calls", strconv.Itoa(calls))
	var summary, complaints bytes.Buffer
	command.Stdout, command.Stderr = &summary, &complaints
	runBounded(t, command, driveWithin)

	var got report
	if err := json.Unmarshal(summary.Bytes(), &got); err != nil {
		t.Fatalf("%v: no report: %v\n%s%s", command.Args, err, &summary, &complaints)
	}
	if got.Calls != calls {
		t.Fatalf("%v: made %d calls, want %d", command.Args, got.Calls, calls)
	}
	return got
}

// runBounded runs a command to its end, killing it at the limit. How it ended is for
// its output to say: a driver whose calls went wrong exits with 1.
func runBounded(t testing.TB, command *exec.Cmd, limit time.Duration) {
	t.Helper()
	tieToParent(command)
	if err := command.Start(); err != nil {
		t.Fatalf("starting %v: %v", command.Args, err)
	}
	timer := time.AfterFunc(limit, func() { _ = command.Process.Kill() })
	defer timer.Stop()
	_ = command.Wait()
}

// wantAllRight fails the test unless every call came back right and no poll was lost.
func (r report) wantAllRight(t testing.TB) {
	t.Helper()
	if r.Right != r.Calls || r.LostPolls != 0 {
		t.Errorf("got %d of %d calls right and %d of %d polls lost, want all right and none lost: %q",
			r.Right, r.Calls, r.LostPolls, r.Polls, r.Errors)
	}
}
