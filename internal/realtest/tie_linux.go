package realtest

import (
	"os/exec"
	"syscall"
)

// Tie makes the kernel kill command's process when the test process ends: a test's
// cleanup does not run if go test's time-out, or somebody's signal, comes first.
// Call it before command.Start. Strictly, the kernel waits for the thread that
// called Start; Go ends only threads of goroutines that return while locked to
// them, which no test is.
func Tie(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
