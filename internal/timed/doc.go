// Package timed has contexts that end by the clock, and have no timer before somebody waits for their end: who is served at once, as
// nearly all are, does not. It has the wait that ends with a context as well.
//
// It promises that such a context ends as one of context.WithDeadlineCause does, for whoever asks it, whenever that is first, and for
// what is derived of it. Where several ends have come before it is asked for the first time, it may tell of another one than came first. It costs one allocation, and a look at the clock each time that it is asked whether it has ended.
package timed
