package sticky

import (
	"context"
	"errors"
	"time"

	"berth/sticky/share"
)

const (
	// sessionSize is what a session, or a value of an affinity, counts for in its caller's share beside what it is called and its
	// handshake, in bytes.
	sessionSize = 768

	// idleEnough is how long nobody has used what gives way to something new of the same caller.
	idleEnough = 30 * time.Minute

	sweepEvery   = time.Minute
	lookEvery    = time.Second // how often a full share is looked into at most
	mostLookedAt = 8           // so much of it at a time
)

// room is what callers may keep bound, each its share.
type room struct {
	shares   *share.Shares
	bindings *Bindings
}

// sizeOf is what key counts for.
func sizeOf(key Key, handshake string) int64 {
	return sessionSize + int64(len(key.ID)+len(key.Principal)+len(handshake))
}

// make reports whether caller may keep key, the zero one being new, with that size, and has what is idle give way where that takes it.
func (r *room) make(ctx context.Context, caller string, key Key, size int64) bool {
	switch {
	case caller == "" || r.shares.Fits(caller, key, size):
		return true
	case r.shares.WasFull(caller, lookEvery):
		return false
	}
	for range mostLookedAt {
		oldest, used, ok := r.shares.Oldest(caller)
		if !ok || r.look(ctx, oldest, used) != nil {
			break
		}
		if r.shares.Fits(caller, key, size) {
			return true
		}
	}
	r.shares.SetFull(caller)
	return false
}

// look has key give way that was used then for the last time, as far as this process knows, if it has ended or is idle. What is not comes
// last in its share.
func (r *room) look(ctx context.Context, key Key, used time.Time) error {
	var stands Binding
	err := r.bindings.finder.fetch(ctx, &key, true, &stands)
	if errors.Is(err, ErrUnknown) {
		r.shares.Drop(key)
		return nil
	}
	if err != nil {
		return err
	}
	idle := r.bindings.terms.sessionIdle
	if elsewhere := stands.Expires.Add(-idle); elsewhere.After(used) {
		used = elsewhere
	}
	if time.Since(used) < min(idleEnough, idle/2) {
		r.shares.UseAt(key, used)
		return nil
	}
	r.bindings.Unbind(ctx, key)
	if !stands.Kept.IsZero() {
		r.bindings.DropHandshake(ctx, key)
	}
	return nil
}

// fit is handshake where there is room for it beside session in caller's share, and "" otherwise.
func (r *room) fit(caller string, session Key, handshake string) string {
	if caller == "" || handshake == "" || r.shares.Fits(caller, session, sizeOf(session, handshake)) {
		return handshake
	}
	return ""
}

// put has key, which is bound, count for caller.
func (r *room) put(caller string, key Key, handshake string) {
	if caller != "" {
		r.shares.Put(caller, key, sizeOf(key, handshake))
	}
}

// drop forgets what is not bound any more.
func (r *room) drop(key Key) {
	if key.Kind == Session || key.Kind == Affinity {
		r.shares.Drop(key)
	}
}

// sweep forgets what nobody has used for so long that the store has forgotten it.
func (r *room) sweep() { r.shares.Sweep(time.Now().Add(-r.bindings.terms.sessionIdle)) }
