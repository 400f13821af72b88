// Package webhooks tells receivers how tasks fare: that one has ended, or asks for something.
//
// It promises that what is in the outbox (package ledger) is sent, by whichever berth is there, until
// its receiver has taken it with a 2xx, or it is given up: after so many attempts, at such an age,
// when the receiver wants no messages any more (410), or when the task is forgotten. Whatever is
// given up is in the log and is counted. A message is sent at least once: twice where a berth dies,
// or loses the store, between the answer and the note of it; its id is the same then.
//
// Receivers do not hinder each other: each has a list, attempts at once, a breaker and a goroutine of
// its own. It knows nothing of HTTP, which is package webhook's.
//
// What it costs: nothing without receivers. With one, a look at its list each beat, and at whether another berth leaves it alone; for each message
// two reads, two writes and a removal at the store, beside what it took to list it.
//
//	webhooks.go   the receivers that there are
//	courier.go    one receiver's: what is due, and when
//	round.go      what its goroutine has in hand
//	quiet.go      what berths tell each other of a receiver that takes nothing
//	attempt.go    one attempt, and what follows from it
//	verdict.go    when a message is looked at again, or never
//	overflow.go   what the log hears of messages for which there is no room
//	payload.go    what is sent
//	metrics.go    what operators see
package webhooks
