package proxy

import (
	"errors"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/routing"
)

// Missing implements routing.Inquirer. A caller who names too many unknown ids is told to
// slow down before the fleet is asked for another. What the map knows is not concerned, so that nobody is
// kept from a task of his own by what others at the same address guess. It is the same
// for an id that is another's and for one that nobody has.
func (x *request) Missing() error {
	if x.AboutTask() && x.p.stale.End(x.Call) != nil {
		return nil // its end was seen here: it is no guess
	}
	return x.p.load.MayMiss(x.Caller)
}

// MayMiss implements access.Misses.
func (d *load) MayMiss(caller string) error {
	if wait := d.unknown.Wait(caller); wait > 0 {
		return d.tooMuch(shedUnknownIDs, fault.TooManyUnknown, wait)
	}
	return nil
}

// Miss implements access.Misses.
func (d *load) Miss(caller string) { d.unknown.Take(caller, 1) }

// noteMiss counts an id that the caller was told is unknown, or was refused with. One that
// the fleet knew was none.
func (x *request) noteMiss(err error) {
	refusal, _ := errors.AsType[*mcp.Error](err)
	refuses := refusal != nil && wire.RefusesCredentials(refusal.Status)
	if refuses || errors.Is(err, routing.ErrUnknownTask) || errors.Is(err, routing.ErrUnknownSession) {
		x.p.load.Miss(x.Caller)
	}
}

// chargeMisses counts the ids of a subscription that nobody knows: what is left out of
// its acknowledgement tells as much as an answer to each would. A caller who has named
// too many is told to slow down in place of it.
func (x *request) chargeMisses(n int) error {
	if n == 0 {
		return nil
	}
	if wait := x.p.load.unknown.Take(x.Caller, n); wait > 0 {
		return x.p.load.tooMuch(shedUnknownIDs, fault.TooManyUnknown, wait)
	}
	return nil
}
