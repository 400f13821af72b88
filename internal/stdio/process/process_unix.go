//go:build unix && !linux

package process

import (
	"errors"
	"os"
	"syscall"
)

// dieWithBerth: whether the process outlives a berth that is killed is its own choice here. Its
// stdin ends then.
func dieWithBerth(*syscall.SysProcAttr) {}

// reap waits for the leader's end and then ends the rest of its group. For that moment the id, if
// the group is empty, may be a stranger's: ids are given out in turn, so it takes a full round.
func (p *Process) reap() (*os.ProcessState, error) {
	state, err := p.leader.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	signalGroup(p.leader.Pid, syscall.SIGKILL)
	return state, err
}

func limitMemory(_ int, most int64) error {
	if most <= 0 {
		return nil
	}
	return errors.New("only Linux bounds the memory of a process")
}
