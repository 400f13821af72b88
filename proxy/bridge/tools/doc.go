// Package tools knows of the tools of an upstream of the legacy era what its calls must bear, and which of them may
// become tasks.
//
// It promises that no call is refused by a list that is more than a second old, or another caller's, unless the server was just asked
// for another one in vain, and that a list which hangs is waited for by one call a minute. A call costs a lock, and the first one in a
// session that names a tool which is in no list, a list.
package tools
