//go:build unix && !solaris && !aix

package storage

import (
	"errors"
	"os"
	"syscall"
)

// errLocked says that another process holds the lock.
var errLocked = errors.New("storage: locked")

// lockFile takes the lock that bbolt takes, on the open file: it ends with the process,
// however that ends.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
