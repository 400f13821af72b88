package process

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func dieWithBerth(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// reap waits for the leader's end and ends the rest of its group before it lets go of its id.
func (p *Process) reap() (*os.ProcessState, error) {
	for {
		err := unix.Waitid(unix.P_PID, p.leader.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	signalGroup(p.leader.Pid, syscall.SIGKILL)
	p.reaped = true
	return p.leader.Wait()
}

// limitMemory bounds what a process, and whatever it starts from now on, may write to of its own:
// not its address space, of which V8 and others reserve far more than they use.
func limitMemory(pid int, most int64) error {
	if most <= 0 {
		return nil
	}
	return unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)}, nil)
}
