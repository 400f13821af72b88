// Package resident sends to upstreams whose sessions live in one process of berth's: servers that
// it runs itself (stdio), and those of the transport HTTP with SSE. What is about a session of
// another berth is passed on to that one, so that any berth serves any client.
//
// It promises that a session's name tells which berth has it, that a request is sent by that one
// alone, and that a berth which is gone is a session that nobody knows (404): its client begins
// anew.
//
//	sender.go    which upstream; whose session
//	address.go   requests as they are passed on
package resident
