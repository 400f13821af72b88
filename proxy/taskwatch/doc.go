// Package taskwatch watches tasks of berth's own making for all who are told of them:
// subscriptions, clients that wait for a result, standing streams of sessions. A Watch says
// which of one listener's tasks may have changed: those that somebody told of, and, since
// what is told may be lost between berths, each one from time to time. A Poller reads them.
//
// What listeners cost the store has a bound that does not depend on how many they are: they
// find later what nobody told them of. A Watch holds some 100 bytes and as many a task, and no
// goroutine.
package taskwatch
