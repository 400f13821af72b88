package leash

import (
	"os/exec"
	"syscall"
)

// Tie makes the kernel kill command's process when the one that starts it ends.
// Call it before command.Start. Strictly, the signal comes with the end of the
// thread that called Start; Go ends threads only of goroutines that return without
// runtime.UnlockOSThread, which no test is.
func Tie(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
