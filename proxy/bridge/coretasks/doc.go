// Package coretasks shows the tasks that an upstream of the legacy era makes itself (2025-11-25, tasks) as
// the Tasks extension has them.
//
// It promises that the id of a task leads back to its session at any berth, and is its caller's alone; that
// a question which the server tells once is told its client until that answers, by whichever berth; that an end
// which was told, if it is short, is told again by whichever berth; and that
// what a client did not declare to answer is refused in its place. It keeps no task: one costs an id, sealed, one
// that asks a write to the store, an end that is told another, and each poll a request to the server, two where that asks or has ended, and
// while it has not a look into the store.
//
//	server.go, support.go    an upstream, and what it says of tasks
//	id.go                    a task: handed out, found again
//	task.go                  what it has come to
//	ends.go, endshares.go    and came to, for other berths, and for a server that forgets; how much of that there may be
//	asked.go, told.go        what it asks: shown, heard
//	anew.go                  of each tasks/result, by servers that do
//	notes.go, near.go        what it asks, for other berths, and for a store that forgets
package coretasks
