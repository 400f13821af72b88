// Package preamble does what a connection of a client begins with, before a server sees it: it shakes
// hands on TLS and parts connections by what was agreed there (ALPN, RFC 7301), HTTP/2 from all
// others; and it reads whose connection it is that a trusted peer passes on (PROXY protocol,
// versions 1 and 2).
//
// It promises that no connection holds up another, that each has 5 s to begin, and that one
// that begins wrong is closed and goes nowhere. Errors of accepting that are temporary are waited
// out, or handed on; any other ends what it concerns. Closing a listener that was made here closes the one
// that it was made of; what that has let in by then, or does still, is handed on.
//
// It costs a goroutine for the time of the beginning, and one for accepting.
package preamble
