// Package held knows the calls that have asked their clients and have not ended, as one berth has them.
//
// It promises that two who answer the same round are served one after the other, the second with what
// the first one got; that a call whose client does not come back in time is given up, by the berth that
// has it last; that it keeps nothing at the berth that asked once another has taken it on; and that what
// its upstream still wants to know is answered as it is given up. What cannot be resumed is held open here,
// what can is not. A call that waits costs a timer; berths that share a store, a write a round, and a notice
// where another one takes it.
//
//	calls.go     all of them: asked, taken on
//	call.go      one, and whose turn it is
//	giveup.go    given up, or left to another berth
//	marks.go     which berth has it
package held
