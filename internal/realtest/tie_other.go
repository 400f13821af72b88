//go:build !linux

package realtest

import "os/exec"

// Tie does nothing: only Linux ties a process's life to its parent's.
func Tie(*exec.Cmd) {}
