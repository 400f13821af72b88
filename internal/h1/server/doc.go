// Package server serves HTTP/1.1 (RFC 9112) on connections over TCP, TLS and anything else that is a net.Conn, to a
// Handler that knows wire alone.
//
// A connection is one goroutine, which runs the handler of each of its requests; pipelined requests are
// answered in order. What a head may be says package head, what a body may be package body: anything else is answered
// 400, or 431 where a head is too long, and ends the connection; nothing behind it is looked at. A body that turns out wrong while
// its handler reads it fails there, and ends the connection after the answer. What a handler leaves of a body
// is read on before its answer, up to 256 KiB; of more the rest is refused with the connection, whose client has half a
// second to read why.
//
// Answers are framed here: a length if the handler set one, or wrote all without flushing; chunks for HTTP/1.1 otherwise; for
// HTTP/1.0 the connection's end. Made up are Date, Content-Length and Connection, unless the handler set
// them, if only to nil; no Content-Type is guessed. What a handler writes is sent when it flushes or returns, or
// when more than a few kilobytes have come together, head and body in one system call.
//
// A request's context ends when its handler has returned, when writing to its client has failed, and, once somebody has asked
// for its Done or called its AfterFunc and the body was read, as soon as its client hangs up. It has no values.
//
// Time: a head has HeaderRead from its first byte; without a request a connection has Idle. For a new one's first a shutdown waits
// as long as a head has. What handlers bound by SetReadDeadline and SetWriteDeadline holds for one request, and counts when
// the connection has to wait. Bounds come up to a second late, less if they are near, and never early: so a
// busy connection rarely touches a timer.
//
// Memory: a connection over TCP that is idle, or whose handler is silent, holds no buffers.
package server
