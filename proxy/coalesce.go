package proxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/reply"
	"berth/routing"
	"berth/sticky"
)

// sourceCoalesced marks access records of polls that were given the answer of another.
const sourceCoalesced sticky.Source = "coalesced"

// coalesce gives a poll the answer of another one like it that is under way, or was
// just answered, and reports whether it did. Else the poll goes to its owner: as the
// one whose answer others may be given, or, where it must not be given an older answer
// than its own, alone.
func (x *request) coalesce(u *routing.Upstream) (answered bool, err error) {
	if x.movedFrom != "" || !x.mayCoalesce() {
		return false, nil // one that was sent elsewhere first leads a flight already
	}
	key, came := x.flightKey(u), time.Now()
	f, leads := x.p.flights.board(x.ctx, key, "")
	if !leads {
		// A process that was stopped in between may find that a mark has expired since.
		mark, known := x.lastMark(key)
		if !known || time.Since(came) > boarding {
			x.p.flights.leave(f)
			return false, nil
		}
		if mark != "" && mark != f.mark {
			x.p.flights.leave(f)
			f, leads = x.p.flights.board(x.ctx, key, mark)
		}
	}
	if leads {
		x.lead(f)
		return false, nil
	}
	return x.ride(f)
}

// mayCoalesce reports whether the request is a poll that several may share an answer
// to. It comes as JSON, whichever way the upstream gave it.
func (x *request) mayCoalesce() bool {
	c := x.Single()
	if c == nil || c.Kind != mcp.KindRequest || c.Method != mcp.MethodGetTask || !c.IsTask() {
		return false
	}
	accept := strings.Join(x.HTTP.Header.Values("Accept"), ",")
	return strings.Contains(accept, "application/json") || strings.Contains(accept, "*/*")
}

// lead makes the request the one that f's answer is asked for by. It does not end with
// its own client as long as others wait.
func (x *request) lead(f *flight) {
	stop := context.AfterFunc(x.ctx, func() { x.p.flights.abandon(f) })
	x.flight, x.ctx = f, f.ctx
	x.disembark = func() {
		x.p.flights.land(f, nil, 0)
		if stop() {
			x.p.flights.abandon(f)
		}
	}
}

// arrive ends the flight that the request leads, if any. Riders who have no answer yet
// ask for themselves.
func (x *request) arrive() {
	if x.disembark != nil {
		x.disembark()
		x.disembark = nil
	}
}

// ride waits for f's answer. Where there is none to share, the poll goes on its own.
func (x *request) ride(f *flight) (answered bool, err error) {
	defer x.p.flights.leave(f)
	select {
	case <-f.landed:
	case <-x.ctx.Done():
		return true, fault.ErrClientGone
	}
	if f.answer == nil {
		return false, nil
	}
	x.decision.Source, x.code = sourceCoalesced, f.answer.code
	x.out.ReadBy(f.answer.rule)
	x.out.Respond(wire.StatusOK, mcp.WithID(f.answer.message, x.ID))
	return true, nil
}

// share lands the flight that the request leads once the response is there: with the
// message in piece, if it may be given to others. The answer's headers have been copied.
// What stands before it on an event stream does not land it; last says that nothing
// comes after piece.
func (x *request) share(status int, piece exchange.Piece, says *peeked, last bool) {
	if x.flight == nil {
		return
	}
	keep := min(x.Endpoint.Coalesce, maxCoalesce)
	if last && !x.p.flights.awaited(x.flight, keep) {
		return // spares a poll alone the copy
	}
	answer, responds := x.shareable(status, piece, says)
	if responds || last {
		x.p.flights.land(x.flight, answer, keep)
	}
}

// shareable returns the answer that piece bears for others as well, nil if there is
// none, and whether piece is, or begins, a response at all.
func (x *request) shareable(status int, piece exchange.Piece, a *peeked) (answer *sharedAnswer, responds bool) {
	switch {
	case piece.Cut:
		return nil, true
	case !mcp.MayBeMessage(piece.Message), a.err == nil && a.Method != "":
		return nil, false
	case a.err != nil, status != wire.StatusOK, !bytes.Equal(a.ID, x.ID), !a.IsError && a.Task.ID != x.Single().TaskID:
		return nil, true
	}
	return &sharedAnswer{bytes.Clone(piece.Message), a.ErrorCode, reply.CrossOrigin(x.out.Header())}, true
}

// hasRiders reports whether others wait for the answer to this request.
func (x *request) hasRiders() bool {
	return x.flight != nil && x.ctx.Err() == nil && x.p.flights.awaited(x.flight, 0)
}

// flightKey digests whatever may bear on the answer: the body but for what is a
// request's own, all headers but for those that are a request's own, and where the request
// comes from, as its upstream is told. Credentials may stand in headers that berth does
// not know.
func (x *request) flightKey(u *routing.Upstream) flightKey {
	asks := make([]byte, 0, 2<<10)
	add := func(part string) {
		asks = append(binary.BigEndian.AppendUint64(asks, uint64(len(part))), part...)
	}
	add(u.Name)
	add(x.HTTP.Host)
	add(x.HTTP.URL.RawQuery)
	var names [inbound.UsualHeaders]string
	for _, name := range inbound.SortedNames(names[:0], x.HTTP.Header, inbound.IsOfOneRequest) {
		for _, value := range x.HTTP.Header[name] {
			add(name)
			add(value)
		}
	}
	add("") // the name of no header
	for _, origin := range x.Origins() {
		add(origin)
	}
	add("") // the name of no header, either: here the body begins
	asks = mcp.AppendQuestion(asks, x.Body)
	key := flightKey{task: x.TaskKey(), asks: sha256.Sum256(asks)}
	if x.Session != "" {
		key.session = x.Endpoint.Router.SessionKey(x.Principal, x.Session)
	}
	return key
}
