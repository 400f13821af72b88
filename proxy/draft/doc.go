// Package draft keeps the tasks of the protocol's first draft (SEP-1686 as first written,
// withdrawn), whose ids clients make: who gets a request that makes one owns it from before
// that is sent.
//
// It promises that a binding outlives its request only where its owner may have got some of
// that, and then for minutes, unless the owner tells of the task. It sends nothing. An endpoint
// without the draft pays nothing for it; with it, a request that makes no task pays a look-up
// where its answer tells of one.
package draft
