// Package bridge shows an upstream of the legacy era as a server of the modern one: to whoever
// sends it a modern request there is no difference. It holds the sessions that such an upstream
// needs, behind its callers' backs.
//
// It promises that two callers never share a session, unless the operator says so; that a
// question which an upstream asks in mid-call is answered in mid-call, so that the tool runs
// once; that what a client did not declare to answer is refused in its place; that a call whose
// client hangs up is cancelled; and that a request is sent again only where its upstream has said
// that it does not know the session, so that it did nothing, or where it asks for a further page of a list.
//
// What waits for a client between two rounds is in the requestState that the client carries,
// sealed: who asks, in which session, and from which event on the answer goes on. So any berth
// can take the next round, and none need live until then. An upstream that gives its events no
// ids, or is not known to replay them, has its stream held open by the berth that asked (held/).
//
// What it does not promise: that state which a server keeps in a session is found again by the
// next call. A caller's calls, one after another, share a session as a rule; nothing says that they must.
//
// The package decides the way of a call. Its parts are packages below it, each of which knows of those alone that stand behind it
// in this list.
//
//	subscriptions/                     subscriptions/listen
//	coretasks/                         the server's own tasks, as the Tasks extension has them
//	tools/                             what calls of the server's tools must bear
//	held/                              calls that have asked, as one berth knows them
//	sessions/                          whose sessions are whose; opened, lent, heard, ended
//	flow/                              an answer, read and resumed
//	rounds/                            what is asked, and carried until it is answered
//	legacy/                            what is sent in a session
//
// And here:
//
//	bridge.go, probe.go                which upstreams need a bridge
//	face.go, check.go                  a modern request, judged as a modern server does
//	stock.go                           what is open at an upstream
//	call.go, send.go                   a call: sent
//	answer.go, reading.go, stream.go   its answer, shown
//	ask.go, retry.go, pass.go, bring.go, tell.go, giveup.go, moot.go   questions: asked, answered, passed on to who holds the call, brought to the server, given up, waited for no more
//	left.go                            a call that its client has left
//	depart.go                          a call that runs, left to another berth
//	early.go                           what is asked before any call
//	first.go                           what a call is refused for until it is answered
//	cursor.go                          lists in pages
//	clock.go, word.go                  how late it is for answers; what other berths take on
//	tasks.go, listen.go                calls that become tasks; what parts serve
//	metrics.go, errors.go              what is measured; what is refused
package bridge
