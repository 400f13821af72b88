//go:build !linux

package integration

import "os/exec"

// tieToParent does nothing: only Linux ties a process's life to its parent's.
func tieToParent(*exec.Cmd) {}
