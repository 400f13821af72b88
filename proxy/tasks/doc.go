// Package tasks is what clients see of the tasks that berth makes of calls, in both dialects: a
// call becomes a task once its client has waited for the answer, or for a refusal, as long as
// its rule says (Create; CoreCall in 2025-11-25, whose clients ask for the task); what is asked
// about a task is answered (Serve), the wait for its result with what the call says meanwhile.
//
// It sends nothing to an upstream and routes nothing: package upgrade holds the calls, and its
// caller is told what becomes of a request that is not answered here. It promises that a client
// gets the answer or the handle and never both, that a call whose client did not get the handle
// is given up unless the task outlasts its client, that one in a session of which that session's upstream
// shows in time not to have heard leaves no task (Unheard), and that of several streams that wait for one
// task in one session one is told what only one may be told.
//
// A request that no task concerns costs some comparisons; a poll of a task one read of it.
package tasks
