// Package runner holds the calls of one process: from a task's record on to its outcome, or
// to the next time that the task waits for input.
//
// It promises that a round's dispatch is durable before its first byte leaves, that an outcome
// is stored before anybody is told of it, and that a step whose acknowledgement is lost is
// taken again. It decides about no task that another process holds: who adopts one claims it
// first, in HeldCalls. It asks no other berth for anything.
//
// What it costs: a goroutine a call, and what is large of a call only as it came; stacks deeper than a round's
// are left after each step (stack.go), what was lent of it is the call's own while it waits. An event stream that says nothing
// is waited for by a goroutine that has nothing else on its stack (flight.go), and without its header.
//
//	runner.go                            the runner
//	heldcalls.go                         whose a task is
//	held.go, step.go, look.go            a held call, its record, and what puts that right
//	first.go, storecall.go               its first round before it is a task; the call, stored for whoever may need it
//	round.go, dispatch.go, flight.go     a round: judged, sent, and how it waits for what comes of it
//	stepalone.go                         steps that the holder alone has to know of
//	place.go                             its turn at an upstream
//	stream.go, asks.go, resume.go        a round of the legacy era
//	follow.go, follower.go               a task of the upstream's own
//	progress.go, ending.go, abort.go     what a call says, how it ends, how it never was
//	handover.go                          left to another berth
//	past.go                              what was known of calls that were let go of
//	answer.go, settle.go, sessionend.go  what clients do to held calls
//	moot.go                              whether anybody waits for an answer any more; what a server's task asks by now
//	renewal.go                           what they authorise them with by now
//	stack.go, gauges.go                  what it costs, how an operator sees it
package runner
