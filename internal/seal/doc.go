// Package seal makes tokens that clients carry and cannot read, change or make up, and
// seals what the store keeps of sessions (Session). Digest names a secret for those who
// are not to know it.
//
// It promises that a token opens only for the purpose that it was sealed for, about
// the same things (a pool, a principal), until it expires, and under the deployment's
// secret: at any berth that has the same one. A token tells nothing but its length.
// What does not open does not say why.
//
// It does not promise that a token is used once, and it keeps no list of tokens: what
// was sealed cannot be called back before it expires. A secret that is kept in the
// store is as safe as the store: whoever can read there can open and make tokens.
//
// A token is AES-256-GCM under a key of its own, derived by HKDF-SHA-256 from the
// secret, the purpose and 24 random bytes. Sealing and opening cost some microseconds.
// A secret in the store costs one GET and a look at a list each five seconds, and for each token that does
// not open; what has not the form of a token costs none. A store that is flushed gets the same secret again from
// any berth that knew it. Where one that did not has made another meanwhile, both open, at all berths within
// two refreshes.
package seal
