// Package head reads the heads of HTTP/1.1 messages (RFC 9112, 2 to 6) from a connection: each is one string, cut
// into fields, and the framing of the body that follows from them.
//
// What two readers could frame in different ways is an error, a Malformed: an empty or folded line, a line feed without
// carriage return, a control character, a blank before a colon or where one is too many, a name that
// is no token, both Content-Length and Transfer-Encoding or two of one, a length that is no number of at most fifteen digits, a
// coding other than chunked or from HTTP/1.0, these names spelt with underscores; of requests also a missing or second
// Host, one that is no host, and a target that is not what its method takes. Versions are HTTP/1.0 and HTTP/1.1.
// Each line is judged when its line feed is there, so a wrong one is known before the next one comes. Absolute targets
// are taken, and their authority counts more than Host (RFC 9112, 3.2.2), as they are with net/http.
//
// Names are made canonical where they lie. A head costs one string; a Parser keeps the rest from one to the next, and
// what it returns is good until then, but for strings, which may be kept.
//
// Most heads say nearly what the one before said. Of one of at most 2 KiB a Parser keeps the string: a field line that stands
// in the next head byte for byte is not judged again, unless it may be a caller's own, which is never compared with
// what another one said. What is found is a function of the line alone, so that it is the same whoever said it first.
package head
