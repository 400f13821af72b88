// Package adminapi answers /v1 of the admin listener: what [berth/internal/api] describes, and orders.
//
// It promises that a question changes nothing and sends nothing to an upstream, that it takes no lock
// which a request of a client waits for longer than to copy what stands there, and that it reads the
// store within bounds however much that holds. An order answers with what stands after it.
//
// What operators ask for is told by parts (fleet, troubles, settings, explanations, tasks, sessions,
// subscriptions, queues); each has its routes and handlers, and holds only what it tells of.
package adminapi
