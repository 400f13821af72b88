// Package process runs the command of a server that speaks stdio: it starts it in a process group of its own, gives it lines
// on stdin, takes the lines of its stdout and the end of its stderr, and ends it with all that it started. What
// the lines mean it does not know.
//
// It promises that nobody who writes to a process waits for it, that no signal reaches a stranger's group, that what
// a process wrote is received before Done is closed, and that on Linux no process outlives berth. A process
// that closes its stdin or stdout, or reads nothing any more, is ended, and so is one that writes a line which is too long, unless
// who receives it knows what to do without: up to 64 MiB of that are passed over.
package process
