package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// askTime bounds a request of berth's own.
const askTime = 10 * time.Second

// errNoResult says that a request of berth's own got no result.
var errNoResult = errors.New("bridge: no result")

// ask sends a request of berth's own in a session, in the name of who sends out, and returns its
// result.
func (f *face) ask(ctx context.Context, out *exchange.Request, l *loan, method string, params map[string]any) (result []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	id := newID()
	body, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  map[string]any  `json:"params,omitempty"`
	}{"2.0", id, method, params})
	if err != nil {
		return nil, err
	}
	response, err := f.send(ctx, out, l, wire.MethodPost, body, askTime)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.Status != wire.StatusOK {
		return nil, errNoResult
	}
	if exchange.ShapeOf(response) == exchange.EventStream {
		return firstResult(response, id)
	}
	message, err := readWhole(response)
	if err != nil {
		return nil, err
	}
	return resultOf(message)
}

// firstResult returns the result of the response to a request on a stream.
func firstResult(response *wire.Response, id []byte) ([]byte, error) {
	events := mcp.NewLongEventReader(response.Body, maxAnswer)
	for {
		e, err := events.Next()
		if err != nil {
			return nil, err
		}
		if !e.Ends || e.Cut || !mcp.MayBeMessage(e.Data) {
			continue
		}
		if a, err := mcp.PeekAnswer(e.Data, false); err == nil && a.Answers(id) {
			return resultOf(bytes.Clone(e.Data))
		}
	}
}

func resultOf(message []byte) ([]byte, error) {
	if result := mcp.ResultObject(message); result != nil {
		return result, nil
	}
	return nil, errNoResult
}
