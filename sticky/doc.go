// Package sticky knows who owns what: it binds a task, or a session, to the
// upstream that holds it, in a store that all berths of a deployment share.
//
// It promises: the first owner of an id wins, at every berth; a binding that Bind
// returned nil for is found by every other berth from then on, or, while the
// store is away, by this process, and is written back when the store returns. A
// binding of a task never changes its upstream, so the cache in front of a shared
// store is never wrong about the owner: it may forget, the store may not; but for an id that was unbound elsewhere, and is another
// upstream's since: who is denied by an owner is to look at Latest. A session
// may be moved, by compare-and-swap; then a cache elsewhere is wrong until it is told
// to Reload, or at its next refresh. Nothing read before a move is written over it.
//
// It does not promise that a binding outlives the store: what is lost there is
// learned again by asking the fleet (package routing).
//
// Cost: a look-up that the near cache answers takes one short lock and no allocation, whatever
// the store, of which it asks nothing; a miss is one GET and the allocation of a text, however many callers wait for it; a
// binding is one script call, with its place in its owner's list, its claim and its handshake.
//
// What an upstream owns is counted in the store (Owned, Left): a binding of a task or session is a
// member of its owner's list when Bind returns, and no more when it moves, ends or expires. That is
// written in the same step. A list may hold too much
// for a while; too little only of what the store lost.
//
// What a binding says is package sticky/binding, the cache sticky/near, the lists sticky/roll.
package sticky
