// Package rounds is what an upstream asks in mid-call, as its client is shown it, and what the client
// carries from one round to the next.
//
// It promises that a state is good for one caller's one call, and not for ever; that what a client brings
// is checked before an upstream hears of it; and that a question which nobody will answer has an answer
// all the same. It sends nothing and keeps nothing. A state costs a sealing, and the retry's the opening.
//
//	question.go    what is asked
//	answers.go     what is brought for it
//	state.go       what is carried meanwhile
//	counter.go     what became of questions, as it is measured
package rounds
