package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/routing"
)

// sendOver sends out to u once and waits for the answer's headers, over the stopgap.
func (x *request) sendOver(u *routing.Upstream, out *exchange.Request) (response *wire.Response, err error) {
	patience := x.Patience()
	x.bridge().await(func() { response, err = outbound.To(x.Endpoint).SendWatched(x.ctx, u, out, patience) })
	return response, err
}

// firstPiece reads the first piece of an answer: until it is here the client has nothing
// of it, whenever the headers came.
func (x *request) firstPiece(reader *exchange.Reader) (piece exchange.Piece, err error) {
	x.stopgap.await(func() { piece, err = reader.Next() })
	return piece, err
}

// byteOrderMark begins a JSON body of some servers. Readers drop it there, and not from
// an event.
var byteOrderMark = []byte("\ufeff")

// endStopgap makes an answer that is no event stream, and whose first piece is here, the
// stream's last event.
func (x *request) endStopgap(response *wire.Response, reader *exchange.Reader, piece exchange.Piece) error {
	piece.Raw, piece.Message = bytes.TrimPrefix(piece.Raw, byteOrderMark), bytes.TrimPrefix(piece.Message, byteOrderMark)
	a, err := mcp.PeekAnswer(piece.Message, piece.Cut)
	switch {
	case err != nil || exchange.ShapeOf(response) != exchange.JSON:
		return notJSONRPC(response.Status)
	case a.HasResult && !a.IsError:
		x.stopgap.status = response.Status
		return x.stopgap.pass(reader, piece)
	}
	object := mcp.ErrorObject(piece.Message)
	if object == nil || a.ErrorCode == 0 {
		return notJSONRPC(response.Status)
	}
	message := piece.Message
	if !bytes.Equal(a.ID, x.ID) {
		// The exchange says whose error it is where it lacks the id. On a stream that
		// would not be enough.
		message = mcp.ErrorResponse(x.ID, object)
	}
	return x.stopgap.end(response.Status, message)
}

// notJSONRPC words an answer that a client cannot be given as it is, because it has the
// beginning of an event stream already.
func notJSONRPC(status int) *mcp.Error {
	return fault.Broken(mcp.ReasonBadUpstream, fmt.Sprintf("the upstream answered with HTTP status %d, and not in JSON-RPC", status))
}

// end makes message the stream's last event. status is what it would have been answered
// with.
func (s *stopgap) end(status int, message []byte) error {
	s.status, s.between = status, false
	if err := s.x.write(event(message)); err != nil {
		return err
	}
	return s.x.flush()
}

// pass makes a message of any length the stream's last event, piece by piece.
func (s *stopgap) pass(reader *exchange.Reader, piece exchange.Piece) (err error) {
	s.between = false
	if err := s.x.write([]byte("event: message\ndata: ")); err != nil {
		return err
	}
	var size int64
	for ; err == nil; piece, err = reader.Next() {
		if size += int64(len(piece.Raw)); s.x.tooLarge(size) {
			return fault.AnswerTooLarge
		}
		if err := s.x.write(onOneLine(piece.Raw)); err != nil {
			return err
		}
	}
	if !errors.Is(err, io.EOF) {
		return fault.BrokenOff(err)
	}
	if err := s.x.write([]byte("\n\n")); err != nil {
		return err
	}
	return s.x.flush()
}

// onOneLine makes blanks of the line ends in a piece of JSON, in place. There they can
// only stand between tokens, and an event's data ends with its line.
func onOneLine(piece []byte) []byte {
	for i, b := range piece {
		if b == '\n' || b == '\r' {
			piece[i] = ' '
		}
	}
	return piece
}

// beginEvents begins an upstream's event stream at the client. A stopgap becomes that
// stream, and from then on ends as that does.
func (x *request) beginEvents(response *wire.Response) error {
	if x.stopgap.isOpen() {
		x.stopgap.between = false
		return nil
	}
	x.streamHeaders(response)
	x.writeHeader(response.Status)
	if err := x.flush(); err != nil && !x.readsOn() {
		return err
	}
	return nil
}
