// Package adminapi answers /v1 of the admin listener: what [berth/internal/api] describes, and orders.
//
// It promises that a question changes nothing and sends nothing to an upstream, that it takes no lock
// which a request of a client waits for longer than to copy what stands there, and that it reads the
// store within bounds however much that holds. An order answers with what stands after it.
//
// A file is about one thing that operators ask for: its routes, its handlers, its faults.
package adminapi
