//go:build unix && !linux

package stdio

import (
	"errors"
	"os"
	"syscall"
)

// attributes: a group of its own. Whether the process outlives a berth that is killed is its own
// choice here: its stdin ends then.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// reap waits for the leader's end and then ends the rest of its group.
func (p *process) reap() (*os.ProcessState, error) {
	state, err := p.leader.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	signalGroup(p.leader.Pid, syscall.SIGKILL)
	return state, err
}

func signalGroup(leader int, signal syscall.Signal) { _ = syscall.Kill(-leader, signal) }

func limitMemory(_ int, most int64) error {
	if most <= 0 {
		return nil
	}
	return errors.New("only Linux bounds the memory of a process")
}
