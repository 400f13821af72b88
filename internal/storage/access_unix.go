//go:build unix && !solaris && !aix

package storage

import (
	"fmt"
	"syscall"
)

// mayMake is access(2)'s word for making files in a directory: writing and searching.
const mayMake = 0x2 | 0x1

// writable says why this process cannot make files in a directory, without making one.
func writable(directory string) error {
	if err := syscall.Access(directory, mayMake); err != nil {
		return fmt.Errorf("no file can be made in %s: %w", directory, err)
	}
	return nil
}
