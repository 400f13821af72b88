// Package raw reads and writes sockets that do not block. Such a call is over in microseconds, so that the scheduler is not told of
// it, as it is by package syscall: that costs more than twice a look at the clock each time, and in a process that was idle it wakes the runtime's monitor,
// a thread, by one more system call.
//
// The race detector takes what goes from one end of a connection to the other for an order of events; so under it these are syscall's.
package raw
