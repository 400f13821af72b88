// Package failover keeps a session alive whose upstream has lost it, where its pool allows
// that (inbound.Endpoint.Reinit): it finds out that the session is lost, opens it on another
// upstream with what its client told the first one, and says by a Verdict where the request
// goes. It sends no request of a client's: the caller acts on the verdict.
//
// It promises that of all who move a session at the same time, at every berth, one does; that
// a session moves once for a request; that nothing moves which may have been executed, or
// which means the lost upstream itself: what is about its tasks, answers to what it asked, the
// session's end. It does not promise what only the lost upstream knew: its tasks stay there.
//
// It also opens sessions for requests about a task that is at another instance than their session (Visit).
//
// A request whose upstream answers costs nothing here, but for a client's answers and the ends of sessions: those that the near
// cache leads cost a read of the store. initialize, logging/setLevel and
// subscriptions cost a write of the store each, before their clients learn of the answer; a
// move costs two reads, a write, and an exchange for each message that is said again.
package failover
