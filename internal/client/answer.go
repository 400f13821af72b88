package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/internal/wire"
)

// MaxAnswer is how much of one answer is read, in bytes.
const MaxAnswer = 4 << 20

// ErrUnreadable says that a request was answered with something that is no answer to
// it: not MCP, cut off, too long, or meant for another request.
var ErrUnreadable = errors.New("client: unreadable answer")

// Answer is what a server said to a request or a notification: a result, or what
// speaks against it.
type Answer struct {
	Status int             // HTTP status
	Header http.Header     // of the answer
	Result json.RawMessage // nil unless the request succeeded
	Error  *Error          // the JSON-RPC error; nil if there is none
}

// Error is a JSON-RPC error object.
type Error struct {
	Code    int             // see package mcp; 0 if it is no integer
	Message string          // as the server worded it
	Data    json.RawMessage // nil if there is none
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Error) UnmarshalJSON(object []byte) error {
	var read struct {
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(object, &read); err != nil {
		return err
	}
	*e = Error{mcp.CodeOf(read.Code), read.Message, read.Data}
	return nil
}

// Accepted reports whether a request was answered with a result, or a notification
// was taken.
func (a *Answer) Accepted() bool {
	return a.Result != nil || a.Error == nil && a.Status < http.StatusMultipleChoices
}

// Incoming is a JSON-RPC message from a server.
type Incoming struct {
	ID     json.RawMessage `json:"id"`     // nil in a notification
	Method string          `json:"method"` // empty in a response
	Params json.RawMessage `json:"params"` // of a request or notification
	Result json.RawMessage `json:"result"` // of a response; nil if it is an error
	Error  *Error          `json:"error"`  // of a response; nil if it is a result
}

func (m *Incoming) answers(id int) bool {
	return m.Method == "" && string(m.ID) == fmt.Sprint(id)
}

// isNobodys: an error may leave out which request it is about. Its exchange says so.
func (m *Incoming) isNobodys() bool {
	return m.Method == "" && (m.ID == nil || string(m.ID) == "null")
}

// Read reads the answer to the request with that id, 0 for a notification, from
// response; closing its body is the caller's. A status that tells of a failure may
// have any body.
func Read(response *http.Response, id int) (*Answer, error) {
	if response.StatusCode < http.StatusOK || response.StatusCode > 599 {
		return nil, fmt.Errorf("%w: no answer ends with status %d", ErrUnreadable, response.StatusCode)
	}
	answer := &Answer{Status: response.StatusCode, Header: response.Header}
	message, err := readMessage(response, id)
	switch {
	case err == nil && message.Error != nil && (message.answers(id) || message.isNobodys() || response.StatusCode >= http.StatusMultipleChoices):
		answer.Error = message.Error
	case id == 0 || response.StatusCode >= http.StatusMultipleChoices:
		// The status says it all.
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	case message.Result == nil || !message.answers(id):
		return nil, fmt.Errorf("%w: it belongs to no request", ErrUnreadable)
	default:
		answer.Result = message.Result
	}
	return answer, nil
}

func readMessage(response *http.Response, id int) (*Incoming, error) {
	body := io.LimitReader(response.Body, MaxAnswer)
	switch shapeOf(response) {
	case exchange.EventStream:
		return readStream(body, id)
	case exchange.JSON:
		return readJSON(body)
	}
	return nil, errors.New("neither JSON nor events")
}

func readJSON(body io.Reader) (*Incoming, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	return parse(data)
}

func parse(data []byte) (*Incoming, error) {
	message := &Incoming{}
	if err := json.Unmarshal(mcp.Unmarked(data), message); err != nil {
		return nil, err
	}
	return message, nil
}

// readStream reads events up to the answer to the request with that id.
func readStream(body io.Reader, id int) (*Incoming, error) {
	events := sse.NewReader(body, MaxAnswer)
	for {
		message, err := NextMessage(events)
		if err != nil {
			return nil, err
		}
		if message.answers(id) {
			return message, nil
		}
	}
}

// NextMessage returns the next message of a stream of events, and io.ErrUnexpectedEOF
// at its end. Events without one are passed over.
func NextMessage(events *sse.Reader) (*Incoming, error) {
	for {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		if event.Cut {
			return nil, errors.New("an event is too long")
		}
		if mcp.MayBeMessage(event.Data) {
			return parse(event.Data)
		}
	}
}

// IsStream reports whether response is a stream of events.
func IsStream(response *http.Response) bool { return shapeOf(response) == exchange.EventStream }

func shapeOf(response *http.Response) exchange.Shape {
	return exchange.ShapeOf(&wire.Response{Header: wire.FromLists(response.Header)})
}
