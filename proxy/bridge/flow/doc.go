// Package flow reads the answer to a call that was sent in a session of the legacy era, item by item,
// and resumes its stream where that breaks.
//
// It promises that nothing is told twice and nothing is lost where the upstream gives its events ids;
// that a stream is asked for again with pauses, for half a minute at most while nothing comes; and that
// what an upstream tells on its session's own stream reaches the call that it is for. It decides nothing
// of what an item means. A flow costs a goroutine while it is read.
//
//	flow.go       an answer, read
//	inbox.go      what comes for its call on the session's own stream
//	rest.go       for as long as nobody reads on
//	resume.go     resumed
//	replays.go    whether an upstream replays
package flow
