// Package lending has in memory, once each, the large texts that clients are being given: outcomes
// of tasks, and what these ask.
//
// It promises that a text which several clients are being given is read once and shared; that what
// is lent stays within its bounds, in all and to each caller, but for a text that is alone; that it
// counts for its caller until the last client has all of it, and not longer; that a read which fails
// is told to nobody but who made it. To borrow and to return a text cost a lock each; nobody waits
// for another's but for the same text.
package lending
