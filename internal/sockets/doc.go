// Package sockets opens the listeners of a process so that another one may stand beside it at the
// same address: by SO_REUSEPORT, or as sockets that a service manager holds and hands over
// (sd_listen_fds(3)).
//
// It promises that a listener which closes leaves no connection behind that was there to be
// accepted: closing takes what is queued first. Where another process listens at the same address by
// SO_REUSEPORT, the kernel is told before that to send it what comes (steer_linux.go), and handshakes
// that were begun have a moment; a socket of a service manager's is the next process's anyway. What it
// cannot keep are handshakes under way where the kernel takes no such word: these are refused, unless
// net.ipv4.tcp_migrate_req is 1.
//
// What it costs: nothing before a listener closes.
//
//	listener.go, queue_unix.go     what closes so
//	probes.go, steer_linux.go      who is given new connections
//	listen.go, reuse_linux.go      sockets of one's own
//	unix.go, private_unix.go       one that is a file
//	inherit.go                     those of a service manager
//	temporary.go                   whether one that failed may go on
//	closewrite.go                  a connection that sends no more
package sockets
