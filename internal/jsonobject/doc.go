// Package jsonobject reads and changes members of JSON objects where they stand: a member is looked up by its path, some are picked by
// their names, or all are visited in order, and what a [Patch] does not name stays byte for byte.
//
// It is strict where two readers could understand an object differently: names that stand there twice, and names that differ only in
// case from one that matters ([AmbiguousError]). [At], [Locate] and [Replace] are not: they take the first member of a name.
//
// Cost: a text is walked once (internal/jsonscan), without a tree; what is handed out aliases it. A [Reader] is for messages whose
// members decide something: those that are known are told by a bit each ([Set]), and only names that are not are kept while their object is open.
package jsonobject
