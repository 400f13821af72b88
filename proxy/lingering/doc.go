// Package lingering keeps the exchanges of the legacy era whose client has left: their answers are read on, for a bounded time, until the
// client resumes the stream, at this berth or at another one.
//
//	exchanges.go  which there are, and how each ends
//	notices.go    what berths tell each other
package lingering
