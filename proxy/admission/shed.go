package admission

import (
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/proxy/fault"
)

// Why a request was turned away: the label of berth.shed.
const (
	shedInFlight      = "in_flight"       // too many calls under way
	shedReserve       = "reserve"         // what is left is for work that has begun
	shedMemory        = "memory"          // near the process's memory limit
	shedBuffered      = "buffered"        // too many bytes of bodies
	shedStreams       = "streams"         // too many standing streams
	shedCallerStreams = "caller_streams"  // too many of this caller
	shedCallerCalls   = "caller_calls"    // too many calls of this caller under way
	shedSessions      = "caller_sessions" // sessions of this caller keep as much as they may
	shedConnections   = "connections"     // no file descriptor or port for one to an upstream
	shedLists         = "lists"           // too many lists of tasks being made
	shedPolls         = "polls"           // this caller polls too often
	shedKept          = "kept"            // near the process's memory limit, and this caller's tasks fill it
	shedUnknownIDs    = "unknown_ids"     // this caller names too many ids that nobody knows
)

var reasons = []string{
	shedInFlight, shedReserve, shedMemory, shedBuffered, shedStreams, shedCallerStreams, shedCallerCalls, shedSessions,
	shedConnections, shedLists, shedPolls, shedKept, shedUnknownIDs,
}

// full turns a request away because the process has no room for it.
func (g *Gate) full(why string) error {
	g.shed(why)
	return fault.Overloaded
}

// shed notes that the process has no room for a request.
func (g *Gate) shed(why string) {
	g.count(why)
	g.lastShed.Store(int64(time.Since(g.began)))
	if g.shedding.CompareAndSwap(false, true) {
		g.log.Warn("load is shed", "reason", why)
		time.AfterFunc(relieved, g.relieve)
	}
}

// tooMuch turns a request away because its caller takes too much. wait is after how
// long it may try again.
func (g *Gate) tooMuch(why string, e *mcp.Error, wait time.Duration) error {
	g.count(why)
	return after(e, wait)
}

// after is e that may be tried again in a while.
func after(e *mcp.Error, wait time.Duration) *mcp.Error {
	later := *e
	later.RetryAfter = wait
	return &later
}

func (g *Gate) count(why string) {
	g.turned.Of(why).Add(1)
	g.refused.Add(why)
}

// Note counts a request that failed with err if it failed for want of room elsewhere: for a
// connection to an upstream, or for a turn to make a list.
func (g *Gate) Note(err error) {
	failed, _ := errors.AsType[*exchange.SendError](err)
	switch {
	case failed != nil && failed.Starved, errors.Is(err, fault.ListStarved):
		g.shed(shedConnections)
	case errors.Is(err, fault.ListsBusy):
		g.count(shedLists)
	}
}

// relieve ends shedding once nothing was shed for long enough.
func (g *Gate) relieve() {
	if left := relieved - time.Since(g.shedLast()); left > 0 {
		time.AfterFunc(left, g.relieve)
		return
	}
	g.log.Info("load is not shed any more")
	g.shedding.Store(false)
}

func (g *Gate) shedLast() time.Time { return g.began.Add(time.Duration(g.lastShed.Load())) }
