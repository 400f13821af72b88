package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
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

func (r report) String() string {
	return fmt.Sprintf("%d of %d calls right, %d of %d polls lost", r.Right, r.Calls, r.LostPolls, r.Polls)
}

// drive runs a driver against an MCP endpoint, to its end.
func drive(t testing.TB, driver driver, url string, calls int) report {
	t.Helper()
	return startDriver(t, driver, url, calls).report(t)
}

// run is a driver at work.
type run struct {
	process  *process
	calls    int
	reported bytes.Buffer
}

// startDriver starts a driver against an MCP endpoint.
func startDriver(t testing.TB, driver driver, url string, calls int) *run {
	t.Helper()
	command := driver(t)
	command.Args = append(command.Args, "--url", url, "--calls", strconv.Itoa(calls))
	r := &run{calls: calls}
	command.Stdout = &r.reported
	r.process = start(t, "driver", command)
	return r
}

// report waits for the driver's end.
func (r *run) report(t testing.TB) report {
	t.Helper()
	r.process.awaitExit(t, driveWithin)
	var got report
	if err := json.Unmarshal(r.reported.Bytes(), &got); err != nil {
		t.Fatalf("%v: no report: %v\n%s", r.process.command.Args, err, &r.reported)
	}
	if got.Calls != r.calls {
		t.Fatalf("%v: made %d calls, want %d", r.process.command.Args, got.Calls, r.calls)
	}
	return got
}

// wantAllRight fails the test unless every call came back right and no poll was lost.
func (r report) wantAllRight(t testing.TB) {
	t.Helper()
	if r.Right != r.Calls || r.LostPolls != 0 {
		t.Errorf("got %v, want all right and none lost: %q", r, r.Errors)
	}
}
