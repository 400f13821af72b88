// Package lingering knows the requests in sessions of the legacy era that are under way. One whose client has left is read on, for a
// bounded time, until the client resumes the stream; one that its client has cancelled ends soon. Clients may do so at another berth.
//
//	exchanges.go  which there are, and how each ends
//	call.go       what a call begins, and what it says of others
//	takeover.go   those whose clients go on with the stream
//	cancel.go     those that are cancelled
//	notices.go    what berths tell each other
package lingering
