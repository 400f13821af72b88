package outbound

import (
	"encoding/json"
	"errors"
	"io"
	"net/url"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
)

// OwnID is the JSON-RPC id of the requests that berth makes itself. Each is the
// only request of its exchange, so that one id does.
const OwnID = `"berth"`

// OwnPing is a ping that no client has sent.
const OwnPing = `{"jsonrpc":"2.0","id":` + OwnID + `,"method":"` + mcp.MethodPing + `"}`

// OwnMessage is a request of berth's own. What params hold must marshal; none are left out.
func OwnMessage(method string, params map[string]any) []byte {
	message := map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(OwnID), "method": method}
	if len(params) > 0 {
		message["params"] = params
	}
	body, _ := json.Marshal(message)
	return body
}

// PostJSON sets what Streamable HTTP asks of every POST.
func PostJSON(h *wire.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
}

// OwnAnswer reads the answer to a request of berth's own; the zero Answer is one
// without a message. The response to another request is none, and crossed hears of it: on
// a stream the right one is waited for. Where it is all that was answered, only an HTTP
// error's status still says what it says.
func OwnAnswer(response *wire.Response, crossed func()) (mcp.Answer, error) {
	return OwnAnswerAmid(response, crossed, func(*mcp.Answer) {})
}

// OwnAnswerAmid is OwnAnswer, and tells asked of each request that comes before on a stream.
func OwnAnswerAmid(response *wire.Response, crossed func(), asked func(request *mcp.Answer)) (mcp.Answer, error) {
	shape := exchange.ShapeOf(response)
	if shape == exchange.Opaque {
		return mcp.Answer{}, nil
	}
	reader := exchange.NewReader(shape, response.Body)
	var dropped error // what it means if nothing else comes
	for {
		piece, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return mcp.Answer{}, dropped
		}
		if err != nil {
			return mcp.Answer{}, err
		}
		a, err := mcp.PeekAnswer(piece.Message, piece.Cut)
		late := piece.Cut && a.ID == nil // the id may stand behind what is held
		switch {
		case err == nil && a.IsCrossed([]byte(OwnID)) && !late:
			crossed()
			if dropped = unlessRefused(response); shape == exchange.JSON {
				return mcp.Answer{}, dropped
			}
		case shape == exchange.JSON, err == nil && a.Answers([]byte(OwnID)):
			return a, nil
		case err == nil && a.Method != "" && a.ID != nil:
			asked(&a)
		}
	}
}

// unlessRefused is what is wrong with a whole answer that is the response to another
// request: nothing, if its status is an error already.
func unlessRefused(response *wire.Response) error {
	if response.Status >= wire.StatusBadRequest {
		return nil
	}
	return exchange.ErrCrossed
}

// CredentialsRefused words an upstream's refusal of the caller's credentials; nil is none.
func CredentialsRefused(response *wire.Response) *mcp.Error {
	if !wire.RefusesCredentials(response.Status) {
		return nil
	}
	refusal := fault.Refused(response.Status, "the server does not take these credentials")
	refusal.Challenge = response.Header.Join("Www-Authenticate", ", ")
	return refusal
}

// Outgoing makes a request with this header, which is its own from then on.
func Outgoing(method string, target *url.URL, host string, header *wire.Header, body []byte) *exchange.Request {
	return &exchange.Request{Method: method, URL: target, Host: host, Header: header, Body: body}
}
