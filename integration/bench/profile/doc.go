// Package profile tells what a running proxy does: which parts of a Go program take its CPU time, by the profiles that it
// serves, and which system calls any program makes, by strace. It tells of each sample one group, so that the shares are
// parts of a whole; what a system call or the collector takes on behalf of a part is not that part's.
package profile
