package outbound

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strconv"
	"sync/atomic"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
)

// OwnID is the JSON-RPC id of those requests of berth's own that are the first of what they are in: those that open a session, a
// subscription, or nothing.
const OwnID = `"berth"`

// ids are the other JSON-RPC ids of this process: no other's are like them, and no client's, so that a session may go from one berth to
// another.
var ids = struct {
	prefix string
	last   atomic.Int64
}{prefix: rand.Text()}

// NewID returns a raw JSON-RPC id that was not used before, in any session (2025-11-25, "Requests").
func NewID() []byte {
	return strconv.AppendQuote(nil, "berth-"+ids.prefix+"-"+strconv.FormatInt(ids.last.Add(1), 36))
}

// OwnPing is a ping that no client has sent, under a new id.
func OwnPing() []byte { return OwnMessage(mcp.MethodPing, nil) }

// OwnMessage is a request of berth's own, under a new id. What params hold must marshal; none are left out.
func OwnMessage(method string, params map[string]any) []byte {
	return ownUnder(NewID(), method, params)
}

// OwnOpening is OwnMessage under OwnID.
func OwnOpening(method string, params map[string]any) []byte {
	return ownUnder([]byte(OwnID), method, params)
}

func ownUnder(id []byte, method string, params map[string]any) []byte {
	message := map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method}
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

// OwnAnswer reads the answer to the request of berth's own with this raw id; the zero Answer is one
// without a message. The response to another request is none, and crossed hears of it: on
// a stream the right one is waited for. Where it is all that was answered, only an HTTP
// error's status still says what it says.
func OwnAnswer(response *wire.Response, id []byte, crossed func()) (mcp.Answer, error) {
	return OwnAnswerAmid(response, id, crossed, func(*mcp.Answer) {})
}

// OwnAnswerAmid is OwnAnswer, and tells asked of each request that comes before on a stream.
func OwnAnswerAmid(response *wire.Response, id []byte, crossed func(), asked func(request *mcp.Answer)) (mcp.Answer, error) {
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
		case err == nil && a.IsCrossed(id) && !late:
			crossed()
			if dropped = unlessRefused(response); shape == exchange.JSON {
				return mcp.Answer{}, dropped
			}
		case shape == exchange.JSON, err == nil && a.Answers(id):
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
