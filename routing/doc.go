// Package routing decides which upstream gets a call.
//
// An owned call, one about a task or in a session that is bound, goes to its
// owner, even while that drains, and to nobody else. Unbound work goes to an
// upstream that is neither draining, ejected nor silent, chosen by the pool's
// Picker; with none of these left, to one that is ejected or silent.
//
// An id that the map does not know is not an id that does not exist: the fleet is
// asked, within bounds (Asker), and only if every upstream denies it is it unknown.
//
// The package sends nothing itself and does not import net/http; how an upstream
// is asked is handed in.
package routing
