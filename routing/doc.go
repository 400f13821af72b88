// Package routing decides which upstream gets a call.
//
// An owned call, one about a task or in a session that is bound, goes to its
// owner, even while that drains, and to nobody else. Unbound work goes to an
// upstream that is neither draining, ejected nor silent, does not fail its checks, and can be started where berth does that, chosen
// by the pool's Picker; with none of these left, to one that is none but draining. Backups
// stand in for the others. Where an upstream may have so much under way only, unbound work
// waits for room, callers in turn (Pool.Await). Settings say all of this, and may change.
//
// An id that the map does not know is not an id that does not exist: the fleet is
// asked, within bounds (Asker), and only if every upstream denies it is it unknown.
//
// The package sends nothing itself and does not import net/http; how an upstream
// is asked, probed and checked is handed in. A pool without checks, shares and bounds pays for
// none of them.
package routing
