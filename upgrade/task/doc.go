// Package task is what an upgraded task is: its record, the steps that change it, and the
// rules that say which calls become tasks.
//
// It promises that a record changes in one place alone, Transition, and that this is pure:
// equal arguments give equal results, so that every berth that takes the same op to the same
// record has the same one. It asks no store and no upstream for anything, and starts nothing.
// Two of its parts are not values: IDs has the deployment's secret fetched, and Room counts
// what of answers is in memory.
//
// What it costs: a step copies the record, and what it changes of its lists.
//
//	task.go, ask.go                      the record, and how clients see it; what they are asked
//	op.go, transition.go, steps.go       its steps, and what is kept of them for operators
//	transitionasks.go                    those by which it waits for its client
//	transitionlegacy.go                  those of a call of the legacy era
//	creation.go, creator.go, id.go       how one is made, whose it is, its name
//	call.go, packed.go, room.go          the call as it is sent, as it waits, its answer's memory
//	storedcall.go, pairs.go              the call as it is stored, its headers
//	encode.go, writer.go, decode.go      the record as it is stored
//	aside.go                             what is kept beside that until the call goes on
//	rule.go, glob.go                     what operators say
//	failure.go                           why a task failed, or was not made
//	webhook.go                           what receivers are told of steps
package task
