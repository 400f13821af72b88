// Package certs is TLS towards clients: the certificate that berth shows them, and
// the authorities that it lets vouch for them.
//
// Certificate, key and authorities are taken over together when their files change;
// what cannot be used is not taken over (package reload). A handshake uses what was in
// use when it began, and a connection keeps what it shook hands with: a certificate
// that is renewed disturbs nobody. Where clients show certificates there are no session
// tickets: one would let a client in again whose authority was taken away since.
//
// HTTP/1.1 is all that is offered (ALPN). Nothing asks whether a client's certificate
// was revoked: give out short-lived ones.
package certs
