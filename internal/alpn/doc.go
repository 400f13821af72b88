// Package alpn parts the connections of a TLS listener by what was agreed in the handshake
// (ALPN, RFC 7301): those that speak HTTP/2 go to one listener, all others to another, so
// that each goes to a server that knows one of them only.
//
// It promises that a handshake holds up nobody else, that it has 5 s, and that a connection
// whose handshake fails goes to neither. Errors of accepting that are temporary are waited
// out; any other ends both listeners. Closing either ends both.
//
// It costs a goroutine for the time of a handshake, and one for accepting.
package alpn
