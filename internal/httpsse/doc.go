// Package httpsse reaches MCP servers of the transport HTTP with SSE (2024-11-05): a GET opens
// a stream, which announces where messages are POSTed to, and bears all answers. A Sender shows
// such a server as one of Streamable HTTP of the legacy era (see internal/legacyface): a
// session is one such stream.
//
// It promises that a stream is opened in the name of the client that sends initialize, with
// its credentials, and that each message is POSTed once, with the credentials of the client's
// request that brings it. Messages go to the origin of the stream and nowhere else. What the
// server answers in place of its stream, or to a message, passes as it is; where it answers a
// message in the body of the POST itself, that counts as if it came on the stream.
//
// An answer of more than 4 MiB fails its call, and no other. A stream that ends, or that bears another message
// of that length, or one of more than 68 MiB, ends its session. It cannot be resumed: this transport has nothing for that.
//
// It costs, beside what a face costs, a connection and a goroutine a session.
package httpsse
