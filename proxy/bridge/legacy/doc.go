// Package legacy sends what is sent in a session of an upstream of the legacy era, in the name of
// whoever makes a call: requests of berth's own, what a call tells or asks for, and the end.
//
// It promises that nothing is sent twice, and that what becomes of a message feeds the upstream's
// health. It opens no session, keeps none, and reads no stream.
//
//	upstream.go    an upstream; requests of berth's own
//	session.go     a session: what is sent in it
//	own.go         requests of berth's own in it, with their responses
//	answer.go      how an answer is read
package legacy
