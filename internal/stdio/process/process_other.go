//go:build !unix

package process

import (
	"errors"
	"os"
	"os/user"
	"syscall"
)

var errNoGroups = errors.New("stdio: this system has no process groups, so no server is started")

func attributes(*user.User) (*syscall.SysProcAttr, error) { return nil, errNoGroups }

func (p *Process) reap() (*os.ProcessState, error) { return p.leader.Wait() }

func signalGroup(int, syscall.Signal) {}

func limitMemory(int, int64) error { return nil }

func hasNoReader(uintptr) bool { return true }
