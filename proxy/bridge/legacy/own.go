package legacy

import (
	"context"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/proxy/session"
)

// askTime bounds a request of berth's own.
const askTime = 10 * time.Second

// errNoResult says that a request of berth's own got no result.
var errNoResult = errors.New("bridge: no result")

// Ask sends a request of berth's own in a session, in the name of who sends out, and returns its
// result.
func (s *Session) Ask(ctx context.Context, out *exchange.Request, method string, params map[string]any) (result []byte, err error) {
	message, err := s.Call(ctx, out, method, params)
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

// Call is Ask for the whole response, be it an error. It fails with a *session.Refusal where
// that of HTTP is one.
func (s *Session) Call(ctx context.Context, out *exchange.Request, method string, params map[string]any) (message []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	id := outbound.NewID()
	body, err := RequestOf(id, method, params)
	if err != nil {
		return nil, err
	}
	response, err := s.Send(ctx, out, wire.MethodPost, body, askTime)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.Status != wire.StatusOK {
		return nil, &session.Refusal{Status: response.Status, Header: response.Header.Clone()}
	}
	message, err = exchange.ReadWhole(response, id, MaxAnswer, func() {})
	switch {
	case errors.Is(err, exchange.ErrTooLong):
		return nil, fault.AnswerTooLarge
	case errors.Is(err, exchange.ErrNoResponse), errors.Is(err, exchange.ErrCrossed):
		return nil, fault.BadUpstream
	case !utf8.Valid(message):
		return nil, fault.BadUpstream
	}
	return message, err
}

// RequestOf is a request under a raw JSON-RPC id.
func RequestOf(id []byte, method string, params map[string]any) ([]byte, error) {
	return json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  map[string]any  `json:"params,omitempty"`
	}{"2.0", id, method, params})
}
