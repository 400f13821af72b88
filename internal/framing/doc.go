// Package framing stands between a listener and net/http's server and refuses
// HTTP/1.1 requests whose end two parsers could see in different places.
//
// net/http is careful, but it settles some ambiguities silently, before a handler
// could look: it takes Transfer-Encoding over Content-Length and deletes the
// latter, merges equal Content-Lengths, joins folded lines, takes a bare LF for a
// line end, and hands "PRI * HTTP/2.0" to the handler. A proxy has to refuse these
// (RFC 9112 sections 2.2, 5.1, 5.2, 6.1 and 11.2), because the parser before or
// behind it may have settled them otherwise.
//
// It is a filter, not a buffer. The client's bytes go on as they arrive, at the
// pace they arrive, so net/http's deadlines, its limit on headers and its watch
// for a client's hang-up work as if nothing stood before it. Each line of a head,
// of a chunk's size and of a trailer section is judged when its line feed is
// there and before that line feed goes on; no handler runs before the last line
// of a head was let through. What is refused is cut off where it stands and
// replaced by bytes that are malformed at every point of a message: in a head
// net/http answers them with 400, after the answers to earlier, pipelined
// requests, and closes; in a chunked body, whose handler is running by then,
// reading the body fails, and net/http closes after the handler's answer. In both
// cases nothing that came later is seen by anyone.
//
// What it does not do: it judges neither methods, paths and hosts (a target that
// names another authority than Host is the handler's to refuse), nor fields that
// do not frame; it does not un-frame (chunk extensions pass, for
// net/http to drop); it knows no upgrade, HTTP/2 or tunnel, so the server behind
// it must not offer one (package preamble leads HTTP/2 past it).
//
// Cost: one pass over heads and chunk lines, none over bodies; no goroutine; no
// memory beyond a line that arrives in pieces, kept for the next such line.
package framing
