// Package bound has contexts that end by the clock, and have no timer before somebody waits for their end: who is served at once, as
// nearly all are, does not.
//
// It promises that such a context ends as one of context.WithDeadlineCause does, for whoever asks it, whenever that is first, and for
// what is derived of it. It costs one allocation, and a look at the clock each time that it is asked whether it has ended.
package bound
