// Package share counts what each caller keeps bound: sessions and values of affinities, in bytes, and more or less in the
// order of their use, so that what nobody uses any more is found first.
//
// It promises that what was put counts once, until it is dropped or swept, whoever uses it. It knows what this process was told,
// and no more: what other processes have ended is for its user to find out. It asks and writes nothing; each call takes one short lock.
package share
