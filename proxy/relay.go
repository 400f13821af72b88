package proxy

import (
	"errors"
	"io"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy/audit"
	"berth/proxy/failover"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/polls"
	"berth/routing"
)

// relayAnswer passes an answer on to the client, message by message.
func (x *request) relayAnswer(u *routing.Upstream, response *wire.Response) error {
	defer func() {
		if x.standing == nil {
			response.Body.Close()
		}
	}()
	if x.Opaque && x.IsPreflight() && (!answersPreflight(response) || isOfBridge(x.Call, u)) {
		x.out.Grant(x.Grantable())
		return nil
	}
	if x.Opaque {
		return x.relayBody(u, response, exchange.Opaque)
	}
	x.made.Judge(response.Status)
	if response.Status >= 300 && response.Status < 400 {
		return fault.Redirect
	}
	if x.HasOddSession(response.Header) {
		return fault.OddSession
	}
	if ended := x.recorder.Head(response); ended {
		failover.EndFormers(x.Way(), &x.Decision)
	}
	if x.IsResponse() {
		x.p.sessions.Answered(x.Way(), &x.Decision, response.Status)
	}
	if x.asking != "" && response.Status/100 == 2 {
		x.rec.Does(audit.Answered, x.asking)
	}
	x.announced = x.p.announcers[x.Endpoint].Answer(x.Call, &x.Decision, x.out, response)
	if c := x.Single(); c != nil && outbound.LacksMethod(response, c.Method) {
		if instead := insteadOfNoMethod(x.p.announcers[x.Endpoint], x.Call, &x.Decision, &x.rec); instead != nil {
			x.out.Respond(wire.StatusOK, instead)
			return nil
		}
	}
	shape := exchange.ShapeOf(response)
	if shape == exchange.EventStream && response.Status/100 == 2 {
		return x.relayEvents(u, response)
	}
	if shape == exchange.Opaque && isStrict(x.Call, response) && response.Header.Get("Content-Encoding") == "" {
		return fault.BadUpstream
	}
	return x.relayBody(u, response, shape)
}

// isStrict reports whether an answer must be one that can be understood.
func isStrict(c *inbound.Call, response *wire.Response) bool {
	return response.Status == wire.StatusOK && c.MustBeClear
}

// brokenOff is what a request fails with whose answer broke off, as err says, before any of it was released. A message in answer to what
// changes nothing is as good as none then: it may be asked for again.
func brokenOff(c *inbound.Call, shape exchange.Shape, rec *audit.Record, err error) error {
	if shape != exchange.JSON || !c.ReadsOnly {
		return fault.BrokenOff(err)
	}
	lost := &exchange.SendError{Err: err, Sent: true}
	rec.EndExchange(audit.ErrorType(lost))
	return lost
}

// relayBody passes on an answer that is no event stream. Its first piece is
// looked at, and what it creates is recorded, before even the status goes out.
func (x *request) relayBody(u *routing.Upstream, response *wire.Response, shape exchange.Shape) error {
	if x.out.TooLarge(response.ContentLength) {
		return fault.AnswerTooLarge
	}
	reader := &x.memory.reader
	x.announced.Read(reader, shape, response)
	piece, err := x.out.FirstPiece(reader)
	if err != nil && !errors.Is(err, io.EOF) {
		return brokenOff(x.Call, shape, &x.rec, err)
	}
	if x.out.TooLarge(int64(len(piece.Raw))) {
		return fault.AnswerTooLarge
	}
	strict := isStrict(x.Call, response)
	if len(piece.Raw) == 0 && shape == exchange.JSON && strict {
		return fault.BadUpstream
	}
	var says peeked
	says.peek(x.Call, piece.Message, piece.Cut)
	if strict && says.isAnothers(x.Call) {
		return fault.BadUpstream
	}
	instead, failure := x.observe(u, &piece, &says, strict)
	if failure != nil {
		return failure
	}
	if instead != nil {
		x.out.Respond(wire.StatusOK, instead)
		return nil
	}
	if x.out.Early.IsOpen() {
		return x.out.EndEarly(x.ID, response, reader, piece)
	}
	way := x.Way()
	if err := x.recorder.BindSession(way, u, "", x.announced.Promised()); err != nil {
		return err
	}
	copyHeaders(way, x.out, response)
	x.announced.Body(&piece, response)
	if x.poll != nil {
		x.poll.Complete(&polls.Response{Status: response.Status, Header: x.out.Header(), Message: piece.Message, Cut: piece.Cut, Says: &says.Answer, Illegal: says.err, Last: true})
	}
	x.out.WriteHeader(response.Status)
	err = x.out.CopyPieces(reader, &piece, response.ContentLength < 0)
	x.relayed = err == nil
	return err
}
