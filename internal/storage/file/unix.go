//go:build unix && !solaris && !aix

package file

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile takes the lock that bbolt takes, on the open file: it ends with the process.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// mayMake is access(2)'s word for making files in a directory: writing and searching.
const mayMake = 0x2 | 0x1

// writable says why this process cannot make files in a directory, without making one.
func writable(directory string) error {
	if err := syscall.Access(directory, mayMake); err != nil {
		return fmt.Errorf("no file can be made in %s: %w", directory, err)
	}
	return nil
}
