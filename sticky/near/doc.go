// Package near is the cache in front of a shared store: the bindings that this process has read or written last.
//
// It promises to hold no more than it was told to, and to give back what was last put under a key, or nothing. What stands in
// the store by now it does not know. A look-up takes one short lock and no allocation.
//
//	cache.go  the cache
//	bound.go  a key and its binding, as they are held there
package near
