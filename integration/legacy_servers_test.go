package integration

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// replays is from where an interactive server's streams can be resumed.
type replays string

const (
	exampleReplays replays = "example" // SDK v1's example store
	strictReplays  replays = "strict"  // refuses events that it does not know, and a stream that is being read
	noReplays      replays = "none"
)

// interactiveFleet is a legacy server built on SDK v1, with sessions, whose plain tools
// ask in mid-call: parts/servers/interactive-server.js.
func interactiveFleet(t testing.TB, n int, from replays) fleet {
	t.Helper()
	return newFleet(t, n, func(name, address string) *exec.Cmd {
		return nodeCommand(t, filepath.Join(serversDir, "interactive-server.js"),
			"--port", portOf(t, address), "--name", name, "--events", string(from))
	})
}

// sessionsFleet is the taskless server in the legacy era: its sessions' tools ask in
// mid-call. With events its streams can be resumed, without they are plain.
func sessionsFleet(t testing.TB, n int, events bool) fleet {
	t.Helper()
	program := built(t, "taskless")
	return newFleet(t, n, func(_, address string) *exec.Cmd {
		args := []string{"-http", address, "-answers", string(sseAnswers), "-sessions"}
		if events {
			args = append(args, "-events")
		}
		return exec.Command(program, args...)
	})
}
