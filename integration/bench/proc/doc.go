// Package proc reads from Linux's /proc what a tree of processes has cost: CPU time by nanoseconds, and
// resident memory. A thread that has ended is no longer counted; the servers measured keep theirs.
package proc
