// Package quota counts what the tasks of one process keep until they expire, by caller, and says for which there is room.
//
// It promises that each caller has half of a bound at most where nobody else keeps much, and an even share of it else, and that
// what went wrong with a call can always be told. It knows no store: what a berth counted goes with it.
//
//	quota.go    what is admitted, and what is given back
//	account.go  what is kept, and by whom
package quota
