package rounds

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"

	"github.com/go-json-experiment/json/jsontext"
)

// Together is how long more is waited for that is asked at the same time.
const Together = 25 * time.Millisecond

// Question is a request of a server's in mid-call, as the next round must know it.
type Question struct {
	Key string          `json:"k"` // as the client is shown it
	ID  json.RawMessage `json:"i"` // of JSON-RPC, the server's

	Request []byte `json:"-"` // the whole of it
}

// KeyOf is what a client is shown a question under: the server does not use its id for another one. A text that could be
// a number stays in quotes: 7 and "7" are two ids.
func KeyOf(id []byte) string {
	key := mcp.IDKey(id)
	if bare := jsontext.Value(strings.Trim(key, `"`)); len(bare) != len(key) && !bare.IsValid() {
		key = string(bare)
	}
	return "ask-" + key
}

// Inputs is what the client is asked with, of each question.
func Inputs(asked []Question) (inputs []inquiry.Input) {
	for _, q := range asked {
		inputs = append(inputs, inquiry.Input{Key: q.Key, Value: inquiry.InputRequest(q.Request)})
	}
	return inputs
}

// Withdrawn is a round without what the upstream wants no answer to any more.
func (c Counter) Withdrawn(round []Question, id []byte) []Question {
	left := slices.DeleteFunc(round, func(q Question) bool { return mcp.SameID(q.ID, id) })
	c.Add(WasWithdrawn, len(round)-len(left))
	return left
}

// Cancelled is the answer to what nobody will answer.
func Cancelled(q Question) []byte {
	if inquiry.IsElicitation(q.Request) {
		return mcp.Response(q.ID, []byte(`{"action":"cancel"}`))
	}
	return mcp.ErrorResponse(q.ID, errNobodyAnswers.Object())
}

var errNobodyAnswers = &mcp.Error{Code: mcp.CodeInternal, Message: "the client does not answer any more"}

// ErrNobodyAsked is what a server's request is refused with in whose place no client can be asked.
var ErrNobodyAsked = &mcp.Error{Code: mcp.CodeInternal, Message: "no client can be asked in this call"}
