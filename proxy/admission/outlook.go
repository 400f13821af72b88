package admission

import (
	"context"
	"errors"

	"berth/internal/limit"
	"berth/proxy/fault"
	"berth/proxy/inbound"
)

// Outlook says which limit would turn the call away now, and in which words; "": none would. Nothing is taken or
// counted. Of rules about tools WouldCharge tells.
func (g *Gate) Outlook(call *inbound.Call, keeps func(*inbound.Call) Keeper) (why string, err error) {
	if why := g.keepsOut(call); why != "" {
		return why, fault.Overloaded
	}
	if why, err := g.outlookOfBody(call); why != "" {
		return why, err
	}
	if g.memory.Short() && !call.ConcernsBegun {
		switch why := g.spares(keeps(call), call.Caller); why {
		case shedMemory:
			return why, fault.Overloaded
		case shedKept:
			return why, after(fault.TooMuchKept, fault.RetryKept)
		}
	}
	if !call.Stands && g.isReserved(call, g.calls.Held()+1) {
		return shedReserve, fault.Overloaded
	}
	if wait := g.polls.Load().WaitFor(call.Caller, call.Polls); wait > 0 {
		return shedPolls, after(fault.TooManyPolls, wait)
	}
	if call.Stands {
		return outlookOf(g.streams.Room(call.Caller, 1), shedStreams, shedCallerStreams, after(fault.TooManyStreams, fault.RetrySoon))
	}
	return "", nil
}

// outlookOfBody is about what is taken before the call is classified.
func (g *Gate) outlookOfBody(call *inbound.Call) (string, error) {
	if g.bodies.Room(call.Caller, int64(len(call.Body))) != nil {
		return shedBuffered, fault.Overloaded
	}
	return outlookOf(g.calls.Room(call.Caller, 1), shedInFlight, shedCallerCalls, after(fault.TooManyCalls, fault.RetrySoon))
}

func outlookOf(err error, all, one string, tooMuch error) (string, error) {
	switch {
	case errors.Is(err, limit.ErrCallerFull):
		return one, tooMuch
	case err != nil:
		return all, fault.Overloaded
	}
	return "", nil
}

// WouldCharge is Charge by one of the rules, and counts nothing. alone says that only what this process has
// counted is known: the store is away.
func (g *Gate) WouldCharge(ctx context.Context, call *inbound.Call, c inbound.Charge) (alone bool, err error) {
	wait, alone := c.Rule.Limit.Wait(ctx, call.Subject(c.Rule.Per), c.Calls)
	if wait > 0 {
		return alone, after(fault.TooManyToolCalls, wait)
	}
	return alone, nil
}

// WouldMiss is MayMiss that counts nothing.
func (g *Gate) WouldMiss(caller string) error {
	if wait := g.unknown.Load().WaitFor(caller, 1); wait > 0 {
		return after(fault.TooManyUnknown, wait)
	}
	return nil
}
