// Package identity tells who is calling: by a header that a trusted proxy sets, by
// the client's certificate, or by an access token (a JWT).
//
// A principal outlives what proves it. It is what the header says, a name in the
// certificate, or the issuer and subject of the token, never a digest of either, so
// that a renewed certificate and a refreshed token are the same caller. Principals
// of one mode are told apart byte by byte; those of several modes are not meant to
// meet in one store.
//
// A token is judged whole before anything of it is believed: its length, its
// algorithm against a list of asymmetric ones, its claims, then its signature by a
// key of the issuer's that is made for that algorithm. The keys are kept up to date
// beside the requests. A token can make berth ask for them anew, at most once in 30
// seconds whatever arrives; while there are none at all nobody is refused, for a
// client that is refused logs in again: it is told to come back.
//
// No error and no log line of this package holds a token or a claim.
package identity
