package reply

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"berth/internal/exchange"
	"berth/internal/jsonobject"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
)

// EndEarly makes an answer that is no event stream, and whose first piece is here, the
// stream's last event. id is the request's.
func (w *Writer) EndEarly(id []byte, response *wire.Response, reader *exchange.Reader, piece exchange.Piece) error {
	piece.Raw = mcp.Unmarked(piece.Raw) // in an event it would stay
	a, err := mcp.PeekAnswer(piece.Message, piece.Cut)
	switch {
	case err != nil || exchange.ShapeOf(response) != exchange.JSON:
		return notJSONRPC(response.Status)
	case a.HasResult && !a.IsError:
		w.Early.status = response.Status
		return w.Early.pass(reader, piece)
	}
	object := mcp.ErrorObject(piece.Message)
	if object == nil || jsonobject.At(object, "code").Kind() != '0' {
		return notJSONRPC(response.Status)
	}
	message := piece.Message
	if !bytes.Equal(a.ID, id) {
		// The exchange says whose error it is where it lacks the id. On a stream that
		// would not be enough.
		message = mcp.ErrorResponse(id, object)
	}
	return w.Early.end(response.Status, message)
}

// notJSONRPC words an answer that a client cannot be given as it is, because it has the
// beginning of an event stream already.
func notJSONRPC(status int) *mcp.Error {
	return fault.Broken(mcp.ReasonBadUpstream, fmt.Sprintf("the upstream answered with HTTP status %d, and not in JSON-RPC", status))
}

// end makes message the stream's last event. status is what it would have been answered
// with.
func (s *Early) end(status int, message []byte) error {
	s.status, s.between = status, false
	return s.w.WriteThrough(Event(message))
}

// pass makes a message of any length the stream's last event, piece by piece.
func (s *Early) pass(reader *exchange.Reader, piece exchange.Piece) (err error) {
	s.between = false
	if err := s.w.Write([]byte("event: message\ndata: ")); err != nil {
		return err
	}
	var size int64
	for ; err == nil; piece, err = reader.Next() {
		if size += int64(len(piece.Raw)); s.w.TooLarge(size) {
			return fault.AnswerTooLarge
		}
		if err := s.w.Write(onOneLine(piece.Raw)); err != nil {
			return err
		}
	}
	if !errors.Is(err, io.EOF) {
		return fault.BrokenOff(err)
	}
	return s.w.WriteThrough([]byte("\n\n"))
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
