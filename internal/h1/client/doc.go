// Package client sends requests to upstreams over HTTP/1.1, over connections that it keeps. It is an exchange.Sender, and
// says of a failure what internal/exchange promises; it never sends a request twice.
//
// An exchange has a connection for itself: request and answer are written and read by the goroutine of whoever sends. The
// connection is kept when the request was written whole, the answer read to its end, neither side said that it
// closes, and no byte came that nobody had asked for. It is kept for 4 s, and the one that was used last is used first.
// It is looked at before it is written again: if the server has closed it, or said
// something, another one is taken, and nothing was sent. At most 256 connections to an upstream are being made at once; who
// needs one beyond these waits for that, or for one that comes back.
//
// "Sent" is a fact: whether the connection took a byte after it was given to the exchange.
//
// The end of a context is looked at when an exchange begins, and watched from some 5 ms on: most are over by then and cost neither a
// timer nor a goroutine. One that ends closes the connection. So does whoever closes an answer before its end.
//
// A request that the connection does not take at once is written by a goroutine of its own, since the upstream may
// answer before it has read it.
//
// Answers are read strictly, by packages head and body: net/http would take bare line feeds, folded lines, equal
// lengths told twice, a length beside chunks and other versions than 1.0 and 1.1; here these are answers that are none (Garbled). What
// is taken here, net/http takes with the same meaning. Informational answers are skipped, as many as fit 256 KiB with
// the answer's head; 101 and statuses outside 200 to 599 are none.
//
// An answer and its header are lent until its body is closed; the strings in it may be kept. Closing it again, later
// or while it is read, is harmless.
//
// Cost of an exchange over a kept connection that the upstream answers within 5 ms: one look, one write, one read, and one
// allocation (its head's text), and one for eight answers. A connection that waits for an answer, or for more of it, holds no buffer but over TLS.
// Where an answer is awaited on Linux, and the connection is plain, no goroutine waits for more of it either: an event costs one system call
// more, and a silent stream 4 KiB less.
package client
