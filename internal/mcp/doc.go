// Package mcp is what berth knows of the Model Context Protocol's wire format:
// how to classify a client's message, how to check its routing headers, how to
// recognise a task, a cursor or a requestState in an answer, and how to word an
// error.
//
// It reads; it never re-encodes. What it is given is forwarded by others byte
// for byte, but for single members that berth has to set (internal/jsonobject). It
// is strict where two readers could disagree about a message (duplicate names,
// names that differ only in case, invalid UTF-8), because a router that reads one
// value while the server acts on another is a smuggling tool, and lenient
// everywhere else: unknown methods, versions and members pass.
//
// Cost: a client's message is walked once, without building a tree (its params once more
// where they stand before the method), and nothing of it is copied but the strings that
// berth goes by and no header says as well. An answer is walked once, and only its first MaxPeek bytes.
// What clients and servers repeat byte for byte is compared, and not walked again: all of a request but its id, its task's and
// its arguments, what becomes of it in its first round (roundform.go), all of an answer but its id, its task and its content
// (answerform.go), all of a notification but what its params say (noticeform.go), and what a client says of itself (self.go).
// At most 4 MiB are kept of these.
package mcp
