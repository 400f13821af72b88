// Package sessiontasks is what berth itself has to say and to see to in the sessions of clients in
// which it holds calls: how their tasks fare (Streams), whether what a tool asked was answered,
// and that a session which its client ends waits for its calls. It answers no request: it says
// what is due, and its caller acts on that.
//
// It promises that an event goes to one stream of a session, and is told to nobody who may not
// ask for its task; that a session which its client has ended is refused by every berth while
// the store can say so; that nobody is asked again for what an upstream has taken an answer to.
// A request outside of a session, or to a pool without rules, costs nothing; one in a session a
// look-up of whether that is over; a standing stream one goroutine a session and caller.
package sessiontasks
