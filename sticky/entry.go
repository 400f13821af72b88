package sticky

import (
	"cmp"

	"berth/internal/storage"
	"berth/sticky/binding"
)

// entry is a binding and what is bound.
type entry struct {
	key     Key
	binding Binding
	counts  counts // what a refresh changes of the owner's list
}

// counts is what becomes of a binding's place in its owner's list.
type counts uint8

const (
	countsAsBefore counts = iota
	countsUntil           // Binding.Until is another
	countsNoMore
	countsGone // nor is anything bound
)

// taken reports whether another upstream stands in the store where e was to be
// written. A value that cannot be read takes nothing: it may be of a newer berth,
// so it is left there, and the fleet is asked instead.
func (e entry) taken(standing storage.Record) bool {
	stands, err := binding.Decode(standing.Value)
	return err == nil && !e.agrees(stands)
}

// over is what a refresh makes of what stands: e, or what that says with what e tells of it, where the fleet was asked
// and the one that stands is worth more. Of a task that counts no more, as another berth has seen meanwhile, only its life is another. The
// error is ErrOwned.
func (e entry) over(standing Binding) (Binding, error) {
	agrees, yields := e.agrees(standing), e.binding.YieldsTo(standing)
	switch {
	case !agrees && !standing.YieldsTo(e.binding), yields && !(agrees && e.binding.Asked):
		return Binding{}, ErrOwned
	case !yields && e.binding.Made != 0 && (entry{key: e.key, binding: standing}).isAfter(e.binding): // it tells of what had the id before
		return Binding{}, ErrOwned
	case e.key.Kind == Task && standing.EndedCounting() && !e.binding.EndedCounting():
		standing.Expires = e.binding.Expires
		return standing, nil
	case !yields:
		return e.binding, nil
	}
	standing.Status, standing.Expires = cmp.Or(e.binding.Status, standing.Status), e.binding.Expires
	if e.counts != countsAsBefore {
		standing.Until = e.binding.Until
	}
	return standing, nil
}

// countsNot reports whether what stands in the store is known to count no more.
func countsNot(standing storage.Record) bool {
	stands, err := binding.Decode(standing.Value)
	return err == nil && stands.EndedCounting()
}

// displaces reports whether e takes the place of what stands in the store.
func (e entry) displaces(standing storage.Record) bool {
	stands, err := binding.Decode(standing.Value)
	return err == nil && e.replaces(stands)
}

// replaces reports whether e takes the place of what stands: that yields, or is of what had the id before.
func (e entry) replaces(stands Binding) bool { return stands.YieldsTo(e.binding) || e.succeeds(stands) }

// succeeds reports whether an answer has given e's id out again, to another task or session of the same owner: one that was restarted may
// count its ids anew. A task that has ended, and is told of as made in the session that made it, is the same: its stream is told again.
func (e entry) succeeds(stands Binding) bool {
	switch {
	case !e.key.Kind.Counted(), e.binding.ClientMade(), !e.isAfter(stands):
		return false
	case e.key.Kind == Session:
		return true
	}
	ended := stands.EndedCounting() || HasEnded(&stands)
	return !ended || !HasEnded(&e.binding) && (stands.Session == "" || stands.Session != e.binding.Session)
}

// isAfter reports whether e was bound after what stands of the same owner. Of one that was asked for nobody knows when its id was given out.
func (e entry) isAfter(stands Binding) bool {
	return e.agrees(stands) && !e.binding.Asked && e.binding.Made > stands.Made
}

// isSucceededBy reports whether what stands is not what e says, but was bound since: by another owner, or by the same one, which gave the
// id out again. Of what an older berth bound nobody knows when.
func (e entry) isSucceededBy(stands Binding) bool {
	return !e.agrees(stands) || e.binding.Made != 0 && stands.Made > e.binding.Made
}

// since is e as it takes the place of what stands: a task that has ended since it was bound counts no more.
func (e entry) since(standing Binding) entry {
	if e.key.Kind == Task && e.agrees(standing) && standing.EndedCounting() && e.binding.Made <= standing.Made {
		e.binding.Status, e.binding.Until, e.counts = standing.Status, 0, countsNoMore
	}
	return e
}

// agrees reports whether standing says the same of the owner as e does. A session may
// have moved, and then more than the upstream counts; a claim is about its principal.
func (e entry) agrees(standing Binding) bool {
	switch e.key.Kind {
	case Session:
		return standing.SameOwner(e.binding)
	case Claim:
		return standing.Principal == e.binding.Principal
	}
	return standing.Upstream == e.binding.Upstream
}
