package exchange

import (
	"errors"
	"io"
	"net/http"

	"berth/internal/mcp"
)

var (
	// ErrTooLong says that an answer is longer than its reader takes.
	ErrTooLong = errors.New("exchange: the answer is too long")
	// ErrNoResponse says that an answer ended without a JSON-RPC response.
	ErrNoResponse = errors.New("exchange: the answer holds no response")
)

// ReadWhole returns the JSON-RPC response that an answer bears, of at most limit
// bytes: the body, or the first message of an event stream that is neither a request
// nor a notification. Of a body that is neither it returns what there is. Other errors
// are the body's.
func ReadWhole(response *http.Response, limit int) ([]byte, error) {
	if ShapeOf(response) == EventStream {
		return readResponse(mcp.NewLongEventReader(response.Body, limit))
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	if err == nil && len(body) > limit {
		return nil, ErrTooLong
	}
	return body, err
}

func readResponse(events *mcp.EventReader) ([]byte, error) {
	for {
		event, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, ErrNoResponse
		case err != nil:
			return nil, err
		case event.Cut:
			return nil, ErrTooLong
		case !event.Ends || !mcp.MayBeMessage(event.Data):
			continue
		}
		if a, err := mcp.PeekAnswer(event.Data, false); err != nil || a.Method == "" {
			return event.Data, nil
		}
	}
}
