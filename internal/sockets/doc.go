// Package sockets opens the listeners of a process so that another one may stand beside it at the
// same address: by SO_REUSEPORT, or as sockets that a service manager holds and hands over
// (sd_listen_fds(3)).
//
// It promises that a listener which closes leaves no connection behind that was there to be
// accepted: closing takes what is queued first. What it cannot take is a handshake that is under
// way just then. With a socket of a service manager's that is the next process's; with SO_REUSEPORT
// the kernel moves it, and what is queued, to the other listener where net.ipv4.tcp_migrate_req is
// 1, and else refuses it.
//
// What it costs: nothing before a listener closes.
//
//	listener.go   what closes so
//	listen.go     sockets of one's own
//	inherit.go    those of a service manager
package sockets
