// Package places is what a process does about the places at upstreams that rules bound, beside the calls that take them: who of
// those that wait looks for one, and which are nobody's any more.
//
// It promises that a place is given back, and a task leaves its line, only where nobody who lives holds the call. A goroutine for each line
// in which calls of this process wait is all that runs.
//
//	places.go  where a call may go, and the place of one that runs already
//	usher.go   who of those that wait is to look for a place
//	prune.go   what nobody gives back
package places
