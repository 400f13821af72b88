// Package body is the bodies of HTTP/1.1 messages (RFC 9112, 6 and 7): of a length, in chunks, or up
// to the connection's end; read strictly, and the lines around a chunk that is written.
//
// A body read to its end takes exactly its own bytes from the connection. One whose connection ends
// earlier ends with io.ErrUnexpectedEOF, and one that is framed wrongly with an error that wraps
// ErrFraming: the connection is of no use after either. What arrived before is handed out first.
//
// Of chunks it takes one spelling. A size is one to fifteen hexadecimal digits; lines end with CRLF, a
// bare line feed or carriage return is refused, and so is a chunk that is longer than its size. Extensions are
// dropped, up to 1 KiB a line and 16 KiB a body. Trailer fields are judged as fields of a head are, and
// dropped, up to 4 KiB. net/http takes whatever is taken here, and takes it for the same bytes.
//
// The last bytes come together with io.EOF where the end is known by then, so that a reader who knows the length
// reads once. Nothing here allocates, or waits for more than the next byte.
package body
