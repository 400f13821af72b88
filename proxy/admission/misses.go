package admission

import (
	"errors"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/routing"
)

// MayMiss tells a caller who has named too many unknown ids to slow down, before another one is
// looked for and before it is called unknown. It is the same for an id that is another's and for
// one that nobody has.
func (g *Gate) MayMiss(caller string) error {
	if wait := g.unknown.Load().Wait(caller); wait > 0 {
		return g.tooMuch(shedUnknownIDs, fault.TooManyUnknown, wait)
	}
	return nil
}

// Miss counts an id that the caller named in vain.
func (g *Gate) Miss(caller string) { g.unknown.Load().Take(caller, 1) }

// NoteMiss counts an id that the caller was told is unknown, or was refused with. One that
// the fleet knew was none.
func (g *Gate) NoteMiss(caller string, err error) {
	refusal, _ := errors.AsType[*mcp.Error](err)
	refuses := refusal != nil && wire.RefusesCredentials(refusal.Status)
	if refuses || errors.Is(err, routing.ErrUnknownTask) || errors.Is(err, routing.ErrUnknownSession) {
		g.Miss(caller)
	}
}

// ChargeMisses counts n ids of a subscription that nobody knows: what is left out of
// its acknowledgement tells as much as an answer to each would. A caller who has named
// too many is told to slow down in place of it.
func (g *Gate) ChargeMisses(caller string, n int) error {
	if n == 0 {
		return nil
	}
	if wait := g.unknown.Load().Take(caller, n); wait > 0 {
		return g.tooMuch(shedUnknownIDs, fault.TooManyUnknown, wait)
	}
	return nil
}
