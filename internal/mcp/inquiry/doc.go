// Package inquiry is what servers ask clients, and what clients answer, in rounds (2026-07-28, multi round-trip requests): requests and
// responses by their keys ([Input]); which of them a client has declared that it can answer ([Declared]); and whether what is asked can be
// read, and what is answered is an answer to it.
//
// Cost: what clients declare is read once for all calls that declare the same.
package inquiry
