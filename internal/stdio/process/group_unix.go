//go:build unix

package process

import (
	"fmt"
	"os/user"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes: a group of its own, so that what a wrapper starts can be ended with it; and the
// account's ids, if there is one.
func attributes(account *user.User) (a *syscall.SysProcAttr, err error) {
	a = &syscall.SysProcAttr{Setpgid: true}
	dieWithBerth(a)
	if account != nil {
		a.Credential, err = credential(account)
	}
	return a, err
}

// credential are the ids of an account, and of all groups that it is in.
func credential(account *user.User) (*syscall.Credential, error) {
	groups, err := account.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("stdio: looking up the user's groups: %w", err)
	}
	ids := make([]uint32, 0, len(groups)+2)
	for _, id := range append([]string{account.Uid, account.Gid}, groups...) {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("stdio: reading the user's ids: %w", err)
		}
		ids = append(ids, uint32(n))
	}
	return &syscall.Credential{Uid: ids[0], Gid: ids[1], Groups: ids[2:]}, nil
}

func signalGroup(leader int, signal syscall.Signal) { _ = syscall.Kill(-leader, signal) }

// hasNoReader reports of the end of a pipe that is written to that nobody has the other one.
func hasNoReader(end uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(end)}}
	_, err := unix.Poll(fds, 0)
	return err == nil && fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0
}
