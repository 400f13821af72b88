package proxy

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/proxy/fault"
	"berth/proxy/lingering"
	"berth/proxy/reply"
)

// debt are the ids of requests whose responses have not come.
type debt struct {
	open  [][]byte
	begun [][]byte // their responses have begun to come; an event may be long
	tail  []byte   // the end, so far, of one whose id comes behind what is read of it; nil: there is none
}

// debtOf is what is owed for a message: a response to each request in it.
func debtOf(calls []mcp.Call) (d debt) {
	for _, c := range calls {
		if c.Kind == mcp.KindRequest {
			d.open = append(d.open, c.ID)
		}
	}
	return d
}

// begin notes that a response is here, or the beginning of it.
func (d *debt) begin(a *mcp.Answer) {
	for i, id := range d.open {
		if a.Answers(id) || len(d.open) == 1 && a.MayAnswer(id) {
			d.begun = append(d.begun, id)
			d.open = slices.Delete(d.open, i, i+1)
			return
		}
	}
}

// readLong goes on with an event of which only the beginning, as a says, is read. It may be a response whose id comes behind that: where
// one alone is owed it is that, else its end is kept.
func (d *debt) readLong(piece *exchange.Piece, a *mcp.Answer) {
	if piece.Cut && a.Method == "" && a.ID == nil && (a.HasResult || a.IsError) {
		switch len(d.open) {
		case 0:
		case 1:
			d.begun, d.open = append(d.begun, d.open...), nil
		default:
			d.tail = make([]byte, 0, 2*tailKept)
		}
	}
	if d.tail == nil {
		return
	}
	raw := piece.Raw[max(len(piece.Raw)-tailKept, 0):]
	if over := len(d.tail) + len(raw) - tailKept; over > 0 {
		d.tail = slices.Delete(d.tail, 0, min(over, len(d.tail)))
	}
	d.tail = append(d.tail, raw...)
}

// tailKept is how much of the end of a response is kept, in bytes, with what its event has behind it.
const tailKept = 512

// settle notes that what has begun to come is whole.
func (d *debt) settle() {
	d.begun = nil
	if d.tail != nil {
		d.begin(&mcp.Answer{ID: mcp.LastID(sse.EndOfData(d.tail))})
		d.begun, d.tail = nil, nil
	}
}

func (d *debt) ids() [][]byte { return slices.Concat(d.begun, d.open) }

func (d *debt) isPaid() bool { return len(d.open)+len(d.begun) == 0 }

// passesOver reports whether a piece is of the response to another request, as another says, that nobody is to have: it may be of another
// caller's. Within a session it is of the same client's, and is passed on.
func (s *stream) passesOver(piece *exchange.Piece, another bool) bool {
	switch {
	case s.drops:
	case !another || s.x.Session != "":
		return false
	default:
		s.x.Way().Crossed(s.u)()
	}
	s.drops = !piece.Between
	return true
}

// takeOutOthers takes what passesOver drops out of an event of several messages (2025-03-26), and reports whether nothing is left.
func (s *stream) takeOutOthers(piece *exchange.Piece) (all bool) {
	if s.x.Session != "" || piece.Cut || !piece.Between || !mcp.IsBatch(piece.Message) {
		return false
	}
	own, others := [][]byte{}, 0
	for message, err := range mcp.Messages(piece.Message) {
		if err != nil {
			return false
		}
		var one peeked
		if one.peek(s.x.Call, message, false); one.isAnothers(s.x.Call) {
			others++
		} else {
			own = append(own, message)
		}
	}
	if others == 0 {
		return false
	}
	s.x.Way().Crossed(s.u)()
	piece.Message = slices.Concat([]byte("["), bytes.Join(own, []byte(",")), []byte("]"))
	piece.Raw = sse.WithData(piece.Raw, piece.Message)
	return len(own) == 0
}

// owes reports whether the client waits for a response that no other stream can bring it.
func (s *stream) owes() bool { return s.isAwaited() && s.resumes == "" }

// isAwaited reports whether the client is there, and a response to it has not come.
func (s *stream) isAwaited() bool { return !s.x.owed.isPaid() && !s.gone }

// breakOff ends the stream, which its upstream has ended, or has broken off with err. A client
// that is owed a response is told so in its place.
func (s *stream) breakOff(err error) error {
	if lingering.IsCancelled(s.x.Ctx) && s.isAwaited() {
		s.refuseAll(fault.Cancelled)
		return nil
	}
	broken := !errors.Is(err, io.EOF)
	if broken && isLeft(s.x) {
		return fault.ErrClientGone
	}
	if broken && s.isAwaited() && s.resumes != "" && !s.x.Way().CouldResume(s.x.Ctx, s.u, s.resumes) {
		s.resumes = ""
	}
	switch {
	case s.owes():
		s.refuseAll(errors.Join(fault.StreamReset, fault.BrokenOff(err)))
		return nil
	case broken:
		return fault.BrokenOff(err)
	}
	return nil
}

// endOfOwing is closed when berth has no time left for a response that is owed.
func (s *stream) endOfOwing() <-chan struct{} {
	if s.owes() {
		return s.x.p.end.releasing
	}
	return nil
}

// refuseAll puts an error in the place of each response that is owed. What broke off within
// an event ends there: it is no message, and readers pass it over.
func (s *stream) refuseAll(failure error) {
	if !s.between {
		s.release([]byte("\n\n"))
	}
	s.x.rec.Err = failure
	answer := s.x.Word(failure)
	s.x.rec.Code = answer.Code
	for _, id := range s.x.owed.ids() {
		s.release(reply.Event(answer.Body(id)))
	}
}
