package rounds

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/eras"
	"berth/internal/mcp/inquiry"
	"berth/internal/seal"
	"berth/internal/wire"
	"berth/proxy/fault"

	"github.com/go-json-experiment/json/jsontext"
)

// State is what a client carries from one round to the next, sealed.
type State struct {
	Upstream string          `json:"u"`
	Session  string          `json:"s,omitempty"`
	Version  string          `json:"v"`
	Request  json.RawMessage `json:"r"`           // id of the call in the session
	Event    string          `json:"e,omitempty"` // from which on its answer goes on; "": a berth holds it, or nobody
	Else     string          `json:"y,omitempty"` // likewise, if By is lost, which holds it as long as it stands
	Heard    string          `json:"g,omitempty"` // the last event of the session's GET stream
	Tasks    int64           `json:"z,omitempty"` // for how long tasks live in the session, in milliseconds
	Asks     []Question      `json:"q"`           // what is open
	Requests []string        `json:"x,omitempty"` // what each of Asks asks, to ask it again; of what is too long, what its answer is judged by
	Seen     []string        `json:"o,omitempty"` // keys of all that was asked so far
	Call     []byte          `json:"c"`           // digest of what the call asks for, byte for byte
	Means    []byte          `json:"k,omitempty"` // digest of the same, however it is written; none: a berth up to 0.10.1 asked
	Nonce    string          `json:"n"`           // of the round
	Unsent   bool            `json:"w,omitempty"` // the call is sent when this is answered
	Lacks    map[string]any  `json:"l,omitempty"` // what the upstream has asked for that the client has not declared
	Tasked   bool            `json:"a,omitempty"` // the call was sent as one that becomes a task
	First    bool            `json:"f,omitempty"` // the call was refused until this is answered, and is made anew then
	By       string          `json:"b"`           // the berth that asked
	Until    int64           `json:"t,omitempty"` // when the client has to have answered, in Unix milliseconds, by the clock that berths share; 0: a berth up to 0.10.1 asked
}

// Remembered is for how long the client of a call that was not answered in time is told so.
const Remembered = 24 * time.Hour

// MaxCarried bounds what of questions a client carries, in bytes: it brings that back with its answers, in one body.
const MaxCarried = 256 << 10

// purpose is what states are sealed for.
const purpose = "bridged question"

// What a state is refused with.
var (
	ErrState   = &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeInvalidParams, Message: "Invalid params: this requestState is not good, or not any more, for this request"}
	ErrExpired = fault.Lost(mcp.ReasonGivenUp, "the call was given up: its client was asked, and did not answer in time")
)

// Seal returns a state as the client carries it, which has to answer until a time, at most life from now. about is what it is good for: see Open.
func (st *State) Seal(ctx context.Context, keys *seal.Keyring, about []string, until time.Time, life time.Duration) (string, error) {
	st.Requests = st.Requests[:0]
	room := MaxCarried
	for _, q := range st.Asks {
		request := q.Request
		if room -= len(request); room < 0 {
			request = inquiry.Bare(request)
		}
		st.Requests = append(st.Requests, string(request))
	}
	st.Until = until.UnixMilli()
	text, err := json.Marshal(st)
	if err != nil {
		return "", err
	}
	return keys.Seal(ctx, purpose, about, text, life+Remembered)
}

// Open returns the state that a call brings, whichever call it is of. It fails with ErrState if that is of something else, or
// none of berth's.
func Open(ctx context.Context, keys *seal.Keyring, about [][]string, token string) (*State, error) {
	text, _, err := keys.OpenAny(ctx, purpose, about, token)
	if errors.Is(err, seal.ErrInvalid) {
		return nil, ErrState
	}
	if err != nil {
		return nil, err
	}
	st := new(State)
	if json.Unmarshal(text, st) != nil || len(st.Requests) != len(st.Asks) {
		return nil, ErrState
	}
	for i, request := range st.Requests {
		st.Asks[i].Request = []byte(request)
	}
	return st, nil
}

// OpenFor is Open for a call that goes on, of which body is the request. It fails with ErrState if the state is of another call,
// and with ErrExpired if it comes too late, by now.
func OpenFor(ctx context.Context, keys *seal.Keyring, about [][]string, token string, body []byte, now time.Time) (*State, error) {
	st, err := Open(ctx, keys, about, token)
	switch {
	case err != nil:
		return nil, err
	case !st.isOf(body):
		return nil, ErrState
	case st.IsLate(now):
		return nil, ErrExpired
	}
	return st, nil
}

// Late is when the client has to have answered, as the timers of this process count, where now is the time that states go by; the zero time
// if that is not known.
func (st *State) Late(now time.Time) time.Time {
	if st.Until == 0 {
		return time.Time{}
	}
	return time.Now().Add(time.UnixMilli(st.Until).Sub(now))
}

// IsLate reports whether it is known to be too late for answers, by now.
func (st *State) IsLate(now time.Time) bool { return st.Until > 0 && now.UnixMilli() > st.Until }

// isOf reports whether a request asks for what the one did that the state is of. Clients need not write it as they did before.
func (st *State) isOf(body []byte) bool {
	return string(st.Call) == string(Digest(body, false)) || len(st.Means) > 0 && string(st.Means) == string(Digest(body, true))
}

// Digest is of what a request asks for, the same in all rounds of its call: of its bytes, or of its JSON in the form that RFC 8785 gives
// it, in which numbers that a double does not tell apart are one. The call that goes on is the first one's in any case.
func Digest(body []byte, canonical bool) []byte {
	body, err := eras.LegacyForm(body, []byte("0"), nil)
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
