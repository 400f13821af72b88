package integration

import (
	"os/exec"
	"syscall"
)

// tieToParent makes the kernel kill the process with this one, should a time-out
// end the tests before their cleanup runs.
func tieToParent(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
