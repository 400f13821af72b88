package integration

import (
	"os/exec"
	"testing"
)

// tasklessFleet is a server without a line of task code, with the tools that the
// suite's scenarios of tasks call: godriver/taskless, built on the published go-sdk.
func tasklessFleet(t testing.TB, n int, answers answers) fleet {
	t.Helper()
	program := built(t, "taskless")
	return newFleet(t, n, func(_, address string) *exec.Cmd {
		return exec.Command(program, "-http", address, "-answers", string(answers))
	})
}
