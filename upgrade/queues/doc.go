// Package queues is who waits for a place at an upstream, and in which order: the lines of a deployment, as one process knows them.
//
// It promises that callers take turns, in one order at all berths, and that a call which waits has a finite number of turns before
// its own. Who waits in this process is called to look for a place when its turn has come, and not before. It takes no place, and
// holds no call: it has no goroutine of its own.
//
// What it costs: a line is read whole, ten times a second at most however many wait in it; where no other process comes or goes,
// once a second.
//
//	queues.go, line.go    who waits where, as it was read and has changed since
//	turn.go, rounds.go    in which order
//	waits.go              who of this process is to look
//	pauses.go             which queues operators have paused
package queues
