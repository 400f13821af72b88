// Package buffer reads connections through memory that is borrowed while bytes lie in it, and written from, and
// given back while nothing is awaited or nothing has come.
//
// A connection that waits costs no buffer: over TCP and Unix sockets WaitReadable holds no memory until
// the kernel has bytes, over TLS and others one byte. Memory is of one size; a Reader that is asked for more at once
// than fits grows for that long.
//
// A Reader is for one goroutine, and answers as bufio.Reader does: what Peek returned holds until the next
// call. An error of the connection is told once all that came before it was taken, and from then on.
package buffer
