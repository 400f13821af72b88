package admission

import (
	"errors"

	"berth/internal/limit"
	"berth/proxy/fault"
	"berth/proxy/inbound"
)

// Seat is what one request holds of the limits. The zero Seat holds nothing, and may only be
// left. It is for one goroutine.
type Seat struct {
	gate   *Gate
	caller string     // who it counts for
	call   limit.Part // a call under way
	stream limit.Part // a standing stream
	body   limit.Part // bytes of the body
}

// Seat returns the seat of a request of caller's, which holds nothing yet.
func (g *Gate) Seat(caller string) Seat { return Seat{gate: g, caller: caller} }

// Hold takes n more bytes for the request's body. They count until the request ends:
// what was peeked at refers to them.
func (s *Seat) Hold(n int64) error {
	more, err := s.gate.bodies.Take(s.caller, n)
	if err != nil {
		return s.gate.full(shedBuffered)
	}
	s.body.Add(more)
	return nil
}

// Enter lets the request in, as a call of its caller's. Its body is here by then: those
// that come slowly keep nobody out.
func (s *Seat) Enter() error {
	switch call, err := s.gate.calls.Take(s.caller, 1); {
	case errors.Is(err, limit.ErrCallerFull):
		return s.gate.tooMuch(shedCallerCalls, fault.TooManyCalls, fault.RetrySoon)
	case err != nil:
		return s.gate.full(shedInFlight)
	default:
		s.call = call
	}
	return nil
}

// Place gives the request the place that is due to what it asks for, now that this is
// known: a standing stream one among streams, a poll one within its caller's rate, and
// new work none that is kept for work that has begun. keeps is asked while memory is short.
func (s *Seat) Place(call *inbound.Call, keeps func(*inbound.Call) Keeper) error {
	g, stands := s.gate, call.Stands
	if g.memory.Short() && !call.ConcernsBegun {
		if err := g.spareMemory(keeps(call), s.caller); err != nil {
			return err
		}
	}
	if !stands {
		if err := g.SpareReserve(call); err != nil {
			return err
		}
	}
	if wait := g.polls.Load().Take(s.caller, call.Polls); wait > 0 {
		return g.tooMuch(shedPolls, fault.TooManyPolls, wait)
	}
	if stands {
		return s.Stand()
	}
	return nil
}

// Stand moves the request from the calls to the standing streams.
func (s *Seat) Stand() error {
	switch stream, err := s.gate.streams.Take(s.caller, 1); {
	case errors.Is(err, limit.ErrCallerFull):
		return s.gate.tooMuch(shedCallerStreams, fault.TooManyStreams, fault.RetrySoon)
	case err != nil:
		return s.gate.full(shedStreams)
	default:
		s.stream = stream
	}
	s.leaveCalls()
	return nil
}

func (s *Seat) leaveCalls() {
	s.gate.calls.Give(s.call)
	s.call = limit.Part{}
}

// Leave gives back all that the request holds, once.
func (s *Seat) Leave() {
	if s.gate == nil {
		return
	}
	s.leaveCalls()
	s.gate.streams.Give(s.stream)
	s.gate.bodies.Give(s.body)
	*s = Seat{}
}

// Keeper is what is asked of upgrade.Use while memory is short.
type Keeper interface {
	InMemory() int64
	KeepsMuch(caller string) bool
}

// spareMemory turns new work of a caller's away. Where it is what tasks keep that fills the
// memory, and this would be one of tasks, the caller whose keep most is refused, and others go
// on; nil: it would not.
func (g *Gate) spareMemory(tasks Keeper, caller string) error {
	switch g.spares(tasks, caller) {
	case shedMemory:
		return g.full(shedMemory)
	case shedKept:
		return g.tooMuch(shedKept, fault.TooMuchKept, fault.RetryKept)
	}
	return nil
}

// spares is why spareMemory turns work away; "": it does not.
func (g *Gate) spares(tasks Keeper, caller string) string {
	switch {
	case tasks == nil || tasks.InMemory() < g.memory.Limit()/keptFills:
		return shedMemory
	case tasks.KeepsMuch(caller):
		return shedKept
	}
	return ""
}
