package bridge

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/seal"

	"github.com/go-json-experiment/json/jsontext"
)

// state is what a client carries from one round to the next, sealed.
type state struct {
	Upstream string          `json:"u"`
	Session  string          `json:"s,omitempty"`
	Version  string          `json:"v"`
	Request  json.RawMessage `json:"r"`           // id of the call in the session
	Event    string          `json:"e,omitempty"` // from which on its answer goes on; "": a berth holds it, or nobody
	Else     string          `json:"y,omitempty"` // likewise, if By is lost, which holds it as long as it stands
	Heard    string          `json:"g,omitempty"` // the last event of the session's GET stream
	Asks     []question      `json:"q"`           // what is open
	Requests []string        `json:"x,omitempty"` // what each of Asks asks, to ask it again
	Seen     []string        `json:"o,omitempty"` // keys of all that was asked so far
	Call     []byte          `json:"c"`           // digest of what the call asks for, byte for byte
	Means    []byte          `json:"k,omitempty"` // digest of the same, however it is written; none: a berth up to 0.10.1 asked
	Nonce    string          `json:"n"`           // of the round
	Unsent   bool            `json:"w,omitempty"` // the call is sent when this is answered
	Lacks    map[string]any  `json:"l,omitempty"` // what the upstream has asked for that the client has not declared
	First    bool            `json:"f,omitempty"` // the call was refused until this is answered, and is made anew then
	By       string          `json:"b"`           // the berth that asked
	Until    int64           `json:"t,omitempty"` // when the client has to have answered, in Unix milliseconds; 0: a berth up to 0.10.1 asked
}

// remembered is for how long the client of a call that was not answered in time is told so.
const remembered = 24 * time.Hour

// purpose is what states are sealed for.
const purpose = "bridged question"

// about is what a state is good for: one caller, in one pool.
func (c *call) about() []string { return []string{c.f.pool().Name(), c.caller} }

func (c *call) sealed(ctx context.Context, st *state) (string, error) {
	st.Requests, st.Lacks = st.Requests[:0], c.lacks
	for _, q := range st.Asks {
		st.Requests = append(st.Requests, string(q.request))
	}
	life := c.f.b.options().Question
	st.Until = time.Now().Add(life).UnixMilli()
	text, err := json.Marshal(st)
	if err != nil {
		return "", err
	}
	return c.f.b.options().Keys.Seal(ctx, purpose, c.about(), text, life+remembered)
}

// opened is the state that the call brings. It fails with errState if that is of another caller,
// another call, or none of berth's, and with errExpired if it comes too late.
func (c *call) opened(ctx context.Context) (*state, error) {
	st, err := c.state(ctx)
	switch {
	case err != nil:
		return nil, err
	case !c.repeats(st):
		return nil, errState
	case st.Until > 0 && time.Now().UnixMilli() > st.Until:
		return nil, errExpired
	}
	return st, nil
}

// state is opened of whichever call.
func (c *call) state(ctx context.Context) (*state, error) {
	text, err := c.f.b.options().Keys.Open(ctx, purpose, c.about(), c.RequestState)
	if errors.Is(err, seal.ErrInvalid) {
		return nil, errState
	}
	if err != nil {
		return nil, err
	}
	st := new(state)
	if json.Unmarshal(text, st) != nil || len(st.Requests) != len(st.Asks) {
		return nil, errState
	}
	for i, request := range st.Requests {
		st.Asks[i].request = []byte(request)
	}
	return st, nil
}

// repeats reports whether the call asks for what the one did that a state is of. Clients need not write it as they did before.
func (c *call) repeats(st *state) bool {
	return string(st.Call) == string(c.question(false)) || len(st.Means) > 0 && string(st.Means) == string(c.question(true))
}

// question is a digest of what the call asks for, the same in all its rounds: of its bytes, or of its JSON in the form that RFC 8785 gives
// it, in which numbers that a double does not tell apart are one. The call that goes on is the first one's in any case.
func (c *call) question(canonical bool) []byte {
	body, err := mcp.LegacyForm(c.out.Body, []byte("0"), nil)
	if err != nil {
		return nil
	}
	if canonical {
		value := jsontext.Value(body).Clone()
		if value.Canonicalize() != nil {
			return nil
		}
		body = value
	}
	sum := sha256.Sum256(mcp.AppendQuestion(nil, body))
	return sum[:12]
}
