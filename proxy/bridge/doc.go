// Package bridge shows an upstream of the legacy era as a server of the modern one: to whoever
// sends it a modern request there is no difference. It holds the sessions that such an upstream
// needs, behind its callers' backs.
//
// It promises that two callers never share a session, unless the operator says so; that a
// question which an upstream asks in mid-call is answered in mid-call, so that the tool runs
// once; that what a client did not declare to answer is refused in its place; that a call whose
// client hangs up is cancelled; and that a request is sent again only where its upstream has said
// that it does not know the session, so that it did nothing.
//
// What waits for a client between two rounds is in the requestState that the client carries,
// sealed: who asks, in which session, and from which event on the answer goes on. So any berth
// can take the next round, and none need live until then. An upstream that gives its events no
// ids, or is not known to replay them, has its stream held open by the berth that asked (hold.go).
//
// What it does not promise: that state which a server keeps in a session is found again by the
// next call. A caller's calls, one after another, share a session as a rule; nothing says that they must.
//
//	bridge.go, probe.go                which upstreams need a bridge
//	face.go, check.go, params.go       a modern request, judged as a modern server does
//	caller.go, shelf.go, lend.go       whose sessions are whose; opened, lent
//	room.go                            which make room for others
//	loan.go                            a session: given back, lost, ended
//	call.go, send.go                   a call: sent
//	flow.go, resume.go, replays.go     its answer, read
//	answer.go, reading.go, stream.go   and shown
//	ask.go, state.go, retry.go         questions: asked, carried, answered
//	first.go                           what a call is refused for until it is answered
//	hold.go, holds.go, giveup.go       calls that have asked, as one berth knows them
//	marks.go                           which berth has them
//	ear.go, aside.go                   the GET stream of a session
//	greet.go                           what is asked there before any call
//	listen.go, listener.go             subscriptions/listen
//	cursor.go                          lists in pages
//	own.go                             requests of berth's own
//	tasks.go, tasksmade.go             the server's own tasks, as the Tasks extension has them
//	taskskept.go                       the sessions that they live in
//	tasksasked.go, taskstold.go        what they ask: shown, heard
//	tasksnoted.go, tasksnear.go        what they ask, for other berths, and for a store that forgets
//	taskswatched.go                    subscriptions to them
//	metrics.go, errors.go, busy.go     what is measured; what is refused
package bridge
