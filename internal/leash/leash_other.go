//go:build !linux

package leash

import "os/exec"

// Tie does nothing: only Linux ties a process's life to its parent's.
func Tie(*exec.Cmd) {}
