// Package grammar is what may stand where in a message of HTTP/1.1 (RFC 9110, 5; RFC 9112): tokens, values, numbers, and which names
// are one. All who judge heads and bodies ask it, so that they cannot differ. Nothing in it allocates.
package grammar
