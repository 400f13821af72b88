// Package subscribe serves subscriptions (2026-07-28, "Subscriptions"; Tasks extension, "Task
// Status Notifications"). Of one client's, the tasks may have several owners, and the other
// wishes may be for the whole fleet; to the client it is one stream. It is made of legs, the
// part that one upstream serves, or berth itself for tasks of its own making.
//
// The client is told first what was agreed to, and afterwards nothing that it did not ask for
// or that was not agreed to, of no other subscription, and nothing of a task after its end. A
// leg that is lost is joined again, unless it was refused; what moved meanwhile is told then.
// The subscription ends with all its legs, with its client, or when none has stood for the
// owner's grace.
//
// Where a pool wants it, wishes for the whole fleet are served by streams which subscribers
// share whom no upstream could tell apart. A client that takes nothing holds up nobody else.
//
// Each leg costs a goroutine and a connection upstream, or its part of one. Nothing is sent to
// an upstream but by the means that the request brings, and what an upstream answers in place
// of a subscription goes back as it came.
package subscribe
