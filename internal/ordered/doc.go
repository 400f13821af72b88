// Package ordered holds lists that are kept in order and know places: how many stand before
// an element, and which stand from a place on.
//
// It promises that a change and a look cost about the same with ten elements and with a
// million: a binary search, a move of at most a block, and one addition for every few hundred
// elements where a place is asked for. It takes no more memory than a slice that grows, and is
// not safe for concurrent use.
package ordered
