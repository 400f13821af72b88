// Package sessions lends the sessions that are open at an upstream of the legacy era to calls, opens
// them, hears what the upstream tells there that is of no call, and ends them.
//
// It promises that two callers never share a session, unless the operator says so; that one which is lent
// alone is nobody else's meanwhile; that a session whose calls are over is ended, by its last user or
// after a while, also one whose caller has gone while it was opened; and that what is asked there while no call can be asked waits
// for the first one, or is refused. A session that is lent costs a lock; one that calls may be asked in, a stream.
//
//	registry.go, room.go   the sessions of an upstream; which make room for others
//	borrower.go, shelf.go,
//	  caller.go            whose sessions are whose
//	lend.go, open.go       lent, opened
//	busy.go                what an upstream says that opens none
//	session.go, level.go   a session: given back, lost; how much it says
//	name.go                in whose name it is ended
//	ear.go, heard.go       its GET stream
//	early.go, taskasks.go  what is asked there before any call, and after it
//	tasks.go, adopted.go   sessions that tasks live in, and other berths' sessions
//	listener.go            who listens to sessions
//	resources.go           the resources that they listen for
package sessions
