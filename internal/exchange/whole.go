package exchange

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/internal/wire"
)

var (
	// ErrTooLong says that an answer is longer than its reader takes.
	ErrTooLong = errors.New("exchange: the answer is too long")
	// ErrNoResponse says that an answer ended without a JSON-RPC response.
	ErrNoResponse = errors.New("exchange: the answer holds no response")
	// ErrCrossed says that an answer is the response to another request.
	ErrCrossed = errors.New("exchange: the answer is one to another request")
)

// ReadWhole returns the JSON-RPC response that an answer bears to the request with this raw
// id, of at most limit bytes: the body, or of an event stream the message that is that. Of a
// body that is neither it returns what there is. crossed is told of each response to another
// request: on a stream it is passed over, and a body is then ErrCrossed, but for an HTTP
// error, whose status speaks for itself. Other errors are the body's.
func ReadWhole(response *wire.Response, id []byte, limit int, crossed func()) ([]byte, error) {
	if ShapeOf(response) == EventStream {
		return readResponse(sse.NewReader(response.Body, limit), id, crossed)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	if err == nil && len(body) > limit {
		return nil, ErrTooLong
	}
	if err == nil && IsCrossed(response, body, id) {
		crossed()
		return nil, ErrCrossed
	}
	return mcp.Unmarked(body), err
}

// IsCrossed reports whether body, which is all of response, is a JSON-RPC response to another
// request than the one with this raw id. Of an HTTP error it is not asked: the status speaks
// for itself, and some servers make up an id there.
func IsCrossed(response *wire.Response, body, id []byte) bool {
	if ShapeOf(response) != JSON || response.Status >= wire.StatusBadRequest {
		return false
	}
	a, err := mcp.PeekAnswer(body, false)
	return err == nil && a.IsCrossed(id)
}

func readResponse(events *sse.Reader, id []byte, crossed func()) ([]byte, error) {
	for {
		event, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, ErrNoResponse
		case err != nil:
			return nil, err
		case event.Cut:
			return nil, ErrTooLong
		case !event.Ends && !EndsWhole(&event), !mcp.MayBeMessage(event.Data):
			continue
		}
		a, err := mcp.PeekAnswer(event.Data, false)
		switch {
		case err != nil || a.Answers(id):
			return event.Data, nil
		case a.Method == "":
			crossed()
		}
	}
}

// EndsWhole reports whether an event is a whole response, though its stream ended, or broke off, before the empty line that ends an event. It is given
// one then, since readers drop an event without.
func EndsWhole(event *sse.Event) bool {
	if event.Ends || event.Cut || event.Tail || !mcp.MayBeMessage(event.Data) {
		return false
	}
	a, err := mcp.PeekAnswer(event.Data, false)
	if err != nil || a.Method != "" || !a.HasResult && !a.IsError {
		return false
	}
	event.Raw, event.Ends = append(bytes.TrimRight(slices.Clone(event.Raw), "\r\n"), "\n\n"...), true
	return true
}
