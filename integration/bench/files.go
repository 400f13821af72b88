//go:build linux

package main

import (
	"fmt"
	"syscall"
)

// spareFiles are those that a proxy has open beside the two of each stream.
const spareFiles = 500

// allowFiles lets this process, and those that it starts, open as many files as the machine lets them, and says if
// that is too few: a proxy, and the benchmark, has two open for each stream.
func allowFiles(streams int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	if need := uint64(2*streams + spareFiles); limit.Max < need {
		return fmt.Errorf("bench: %d streams need %d open files, and %d are allowed: use fewer (--streams), or raise ulimit -Hn", streams, need, limit.Max)
	}
	return nil
}
