// Package connlimit stands at the listening socket and bounds how many connections one
// address may hold.
//
// A connection too many is closed as soon as it is accepted, without a word: under
// TLS there is no word that the client could read yet, a client that was told
// nothing knows that nothing of its request was served, and a refusal is to cost
// nothing. Connections that stand are never touched.
//
// An address is an IPv4 address, or the /64 that an IPv6 address lies in, which is
// what one customer of a provider has. Peers that speak for many, the proxies in
// front, are exempt.
//
// It also says when connections cannot be accepted at all, for want of file
// descriptors above all: net/http's server tries again by itself, after 5 ms to 1 s,
// but keeps that to itself.
package connlimit
