package sticky

import (
	"context"
	"time"
)

// Lookup returns the binding of key and where it was found. The error is
// ErrUnknown, or wraps storage.ErrUnavailable or ctx's.
func (b *Bindings) Lookup(ctx context.Context, key Key) (binding Binding, source Source, err error) {
	source, err = b.LookupInto(ctx, &key, &binding)
	return binding, source, err
}

// LookupInto is Lookup that writes the binding where the caller has it, which spares copies. With an error it is the zero
// one.
func (b *Bindings) LookupInto(ctx context.Context, key *Key, into *Binding) (Source, error) {
	source, err := b.finder.lookup(ctx, key, false, into)
	b.metrics.lookup(key.Kind, source, err)
	return source, err
}

// Peek is Lookup for who only wants to know: nothing is counted, and the cache stays as it is.
func (b *Bindings) Peek(ctx context.Context, key Key) (binding Binding, source Source, err error) {
	source, err = b.finder.lookup(ctx, &key, true, &binding)
	return binding, source, err
}

// Reload returns the binding of key as the store has it, whatever the near cache
// says: a session may have been moved by another berth. The error is ErrUnknown, or
// wraps storage.ErrUnavailable or ctx's.
func (b *Bindings) Reload(ctx context.Context, key Key) (binding Binding, err error) {
	err = b.finder.read(ctx, &key, &binding)
	return binding, err
}

// Latest returns the binding of a task as it was written last: as the store has it, unless this process knows what that
// has not been told yet, or the store is away. Another berth may have seen how a task ended. Nothing is counted, and the cache
// stays as it is. The error is Lookup's.
func (b *Bindings) Latest(ctx context.Context, key Key) (binding Binding, err error) {
	err = b.finder.latest(ctx, &key, &binding)
	return binding, err
}

// Find returns what a pool has bound a task's id to, whoever's it is, as Latest has it. It is for operators, who know nobody's
// principal; the error is ErrUnknown, or wraps storage.ErrUnavailable or is ctx's.
func (b *Bindings) Find(ctx context.Context, pool, id string) (Key, Binding, error) {
	return b.finder.find(ctx, pool, id)
}

// Whole fails where other processes may have bound what the store does not have; one that only peeks goes by what is known. The error
// wraps storage.ErrUnavailable or is ctx's.
func (b *Bindings) Whole(ctx context.Context, peeks bool) error {
	if peeks {
		return b.store.Doubted()
	}
	return b.store.Whole(ctx)
}

// Shared reports whether other processes bind in the same store.
func (b *Bindings) Shared() bool { return b.store.Shared() }

// Bind makes binding.Upstream the owner of key. It returns nil once the binding
// is in the store or, with the store away, once this process will answer for it.
// If another upstream owns the key it returns ErrOwned and changes nothing, unless that
// owner's binding is of an id that its client made and yields: then binding stands.
// binding.Expires is set by Bind, from ttl for tasks (0: unlimited) within bounds.
func (b *Bindings) Bind(ctx context.Context, key Key, binding Binding, ttl time.Duration) error {
	return b.binder.bind(ctx, &key, &binding, ttl, nil)
}

// Beside is what is written with a binding, in the same step. The zero value is nothing.
type Beside struct {
	Claim    Binding       // that guards the key; without an upstream: there is none. One that stands already is as good
	ClaimTTL time.Duration // as Bind's ttl

	// Handshake is what it takes to open the session anew, its bytes the caller's to read and write; "": none. It is kept
	// until Binding.Kept, at least.
	Handshake string

	// Caller is who keeps the session, or the value of an affinity, which counts for its share; "": it counts for nobody's.
	Caller string
}

// BindBeside is Bind with what is written beside the binding. Without a store both are kept
// locally as well; a handshake for which there is no room there, or in its caller's share, is not, so that Binding.Kept is zero.
// A value of an affinity for which there is no room in its caller's share is not bound: ErrNoRoom.
func (b *Bindings) BindBeside(ctx context.Context, key Key, binding Binding, ttl time.Duration, beside Beside) error {
	if key.Kind == Affinity && !b.room.make(ctx, beside.Caller, key, sizeOf(key, "")) {
		b.metrics.bound(key.Kind, outcomeNoRoom)
		return ErrNoRoom
	}
	beside.Handshake = b.room.fit(beside.Caller, key, beside.Handshake)
	err := b.binder.bind(ctx, &key, &binding, ttl, &beside)
	if err == nil {
		b.room.put(beside.Caller, key, beside.Handshake)
	}
	return err
}

// Amend replaces what is kept of a binding that this process has just made, with a handshake as BindBeside keeps one, for its caller. It
// must not change the owner.
func (b *Bindings) Amend(ctx context.Context, key Key, binding Binding, handshake, caller string) {
	handshake = b.room.fit(caller, key, handshake)
	b.binder.amend(ctx, key, binding, handshake)
	b.room.put(caller, key, handshake)
}

// MakeRoom reports whether caller may begin a session of which so many bytes are kept beside the binding. Where its share is full, those of
// its sessions and values give way that nobody has used for a while, and those are struck off that have ended elsewhere.
func (b *Bindings) MakeRoom(ctx context.Context, caller string, handshake int) bool {
	return b.room.make(ctx, caller, Key{}, sessionSize+int64(handshake))
}

// SetPerCaller bounds what one caller may keep bound in this process, in bytes; 0: any number.
func (b *Bindings) SetPerCaller(bytes int64) { b.room.shares.SetMost(bytes) }

// Prefer remembers that upstream issued the cursor or requestState that key
// names. It is a preference: the last one counts, and a store that is away does
// not matter beyond this process.
func (b *Bindings) Prefer(ctx context.Context, key Key, upstream string) {
	b.binder.put(ctx, key, Binding{Upstream: upstream})
}

// Unbind forgets key: its owner said that it does not know it any more. Errors
// are not reported: what an upstream owns is dropped once the store is back, any other binding that stays is found out in
// the same way again.
func (b *Bindings) Unbind(ctx context.Context, key Key) {
	b.refresher.forgotten.add(key)
	var owner Binding
	b.room.drop(key)
	_, _ = b.finder.lookup(ctx, &key, false, &owner) // none is as good: who reads the list finds out
	b.binder.unbind(ctx, entry{key: key, binding: owner, counts: countsGone})
}

// UnbindAs is Unbind of what is bound as was says, by which a call was led to the owner that does not know key, or that is gone: an id that
// was given out again meanwhile keeps its new binding.
func (b *Bindings) UnbindAs(ctx context.Context, key Key, was *Binding) {
	b.refresher.forgotten.add(key)
	if !b.binder.unbindAs(ctx, entry{key: key, binding: *was, counts: countsGone}) {
		b.refresher.forgotten.remove(key)
	}
}

// RebindProvisional gives a provisional binding that binding.Maker made for the upstream
// from to another one, because from got nothing of the request, or prolongs it where both
// are one. It returns nil or ErrOwned: what stands by then is another's, or is provisional
// no more, and counts.
func (b *Bindings) RebindProvisional(ctx context.Context, key Key, from string, binding Binding) error {
	return b.rebinder.provisional(ctx, key, from, binding)
}

// ReleaseProvisional gives a provisional binding up that maker made for the upstream from,
// because nobody got anything of the request, or it was refused. One that stands for want
// of a store expires by itself.
func (b *Bindings) ReleaseProvisional(ctx context.Context, key Key, from, maker string) {
	b.rebinder.release(ctx, key, from, maker)
}

// RebindAffinity gives a value of an affinity that the upstream from holds to another
// one, because from is gone. It returns nil or ErrOwned: somebody was first. Other
// processes may follow the old binding until they touch it.
func (b *Bindings) RebindAffinity(ctx context.Context, key Key, from string, binding Binding) error {
	return b.rebinder.affinity(ctx, key, from, binding)
}

// Move makes to the owner of the session that key names, if from still is, and
// returns the binding that stands then. Of several who move a session one wins; the
// others get its binding beside ErrMoved. Other errors are ErrUnknown, for a session
// that has ended, and those that wrap storage.ErrUnavailable or ctx's: the store was
// asked twice then, and nobody can say who owns it. What this process alone knows, the store being away, is not moved.
func (b *Bindings) Move(ctx context.Context, key Key, from, to Binding) (Binding, error) {
	return b.rebinder.move(ctx, key, from, to)
}
