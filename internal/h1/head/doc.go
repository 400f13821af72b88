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
// Names are made canonical where they lie. A head costs one string at most, and a second one where lines are kept of it; a Parser keeps
// the rest from one to the next, and what it returns is good until then, but for strings, which may be kept.
//
// Most heads say nearly what others said. Of one of them a Parser keeps the lines that messages of many have in common, in at most
// 2 KiB, with all that was found of them: such lines are compared with the next head as many at once as stood together, and what
// stands there byte for byte is not judged again. What is found is a function of these lines alone, so that it is the same whoever
// said them first. Of a line that may be a caller's own nothing but its name is kept; a head that is the known one but for what such lines
// say, which is judged as any, is taken over at once. Who keeps a head for long has its Parser leave all that to others (Stand).
package head
