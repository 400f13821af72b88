package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/session"
)

// askTime bounds a request of berth's own.
const askTime = 10 * time.Second

// errNoResult says that a request of berth's own got no result.
var errNoResult = errors.New("bridge: no result")

// ask sends a request of berth's own in a session, in the name of who sends out, and returns its
// result.
func (f *face) ask(ctx context.Context, out *exchange.Request, l *loan, method string, params map[string]any) (result []byte, err error) {
	message, err := f.request(ctx, out, l, method, params)
	if _, refused := errors.AsType[*session.Refusal](err); refused {
		return nil, errNoResult
	}
	if err != nil {
		return nil, err
	}
	if result = mcp.ResultObject(message); result == nil {
		return nil, errNoResult
	}
	return result, nil
}

// request is ask for the whole response, be it an error. It fails with a *session.Refusal where
// that of HTTP is one.
func (f *face) request(ctx context.Context, out *exchange.Request, l *loan, method string, params map[string]any) (message []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	id := newID()
	body, err := requestOf(id, method, params)
	if err != nil {
		return nil, err
	}
	response, err := f.send(ctx, out, l, wire.MethodPost, body, askTime)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.Status != wire.StatusOK {
		return nil, &session.Refusal{Status: response.Status, Header: response.Header.Clone()}
	}
	message, err = exchange.ReadWhole(response, id, maxAnswer, func() {})
	switch {
	case errors.Is(err, exchange.ErrTooLong):
		return nil, errAnswerTooLarge
	case errors.Is(err, exchange.ErrNoResponse), errors.Is(err, exchange.ErrCrossed):
		return nil, errUnusable
	case !utf8.Valid(message):
		return nil, errUnusable
	}
	return message, err
}

func requestOf(id []byte, method string, params map[string]any) ([]byte, error) {
	return json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  map[string]any  `json:"params,omitempty"`
	}{"2.0", id, method, params})
}
