// Package roll has the lists of what upstreams own: one in the store for each upstream and kind, with the names of its bindings.
//
// It promises that what a list holds and no binding confirms is struck off by whoever reads the list, once that has been so for a
// while. A list is written by who makes the binding, in one step with it: package sticky.
//
//	roll.go              a list, and its name
//	owned.go             how much stands in the lists
//	left.go, missing.go  what stands there, and what does so for no reason
package roll
