// Package exchange is one exchange with an upstream: a request sent once, and the
// messages of its answer, JSON or event stream, one at a time.
//
// It promises that a request is never sent a second time behind the caller's
// back, and that a failed one says whether any of its bytes may have left: only
// then can a caller decide whether a tool may already be running. It follows no
// redirects and inflates nothing.
//
// It hands out final answers only, of a status from 200 to 599. Any other status, and a
// head that cannot be read, is a failure, and its connection is closed: nobody behind can
// take 101 for a word about his own connection.
//
// Bytes come out as they came in; of each message at most mcp.MaxPeek bytes are
// held at once, unless its reader asks for more.
package exchange
