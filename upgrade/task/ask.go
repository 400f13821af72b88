package task

import (
	"bytes"
	"encoding/json"
	"slices"

	"berth/internal/mcp/inquiry"

	"github.com/go-json-experiment/json/jsontext"
)

// Ask is one thing that the upstream wants to know from the client: between two rounds of a
// call, or, of a legacy call, by a JSON-RPC request while it runs.
type Ask struct {
	Key      string          `json:"key"`                // as the client is shown it; the JSON-RPC id of a request, as mcp.IDKey spells it
	Upstream string          `json:"upstream,omitempty"` // as the upstream named it between two rounds
	Request  json.RawMessage `json:"request"`            // what is asked; the whole JSON-RPC request
	Answer   json.RawMessage `json:"answer,omitempty"`   // nil: not answered yet
}

// Is reports whether an upstream's task still asks this: each of its keys is for one question (Tasks extension, "Input Requests"), whose words may change, as of one that tells
// how much time is left.
func (a *Ask) Is(in inquiry.Input) bool { return a.Upstream == in.Key }

// AskOf is the one of the task's asks that this is; nil: there is none.
func (t *Task) AskOf(in inquiry.Input) *Ask {
	if at := slices.IndexFunc(t.Asks, func(a Ask) bool { return a.Is(in) }); at >= 0 {
		return &t.Asks[at]
	}
	return nil
}

// IsReworded reports whether an upstream asks this in other words by now, and nobody has answered the ones before.
func (a *Ask) IsReworded(in inquiry.Input) bool {
	if a.Answer != nil || bytes.Equal(a.Request, in.Value) {
		return false
	}
	before, now := jsontext.Value(a.Request).Clone(), jsontext.Value(in.Value).Clone()
	return before.Canonicalize() != nil || now.Canonicalize() != nil || !bytes.Equal(before, now)
}

// OpenAsks are the asks that the client has not answered, in order.
func (t *Task) OpenAsks() []Ask {
	var open []Ask
	if t.State != InputRequired && (t.State != Dispatched || t.Call == "") {
		return nil
	}
	for _, ask := range t.Asks {
		if ask.Answer == nil {
			open = append(open, ask)
		}
	}
	return open
}

// CheckAnswers fails with an *mcp.Error if what answers an open ask is no answer to it. What answers nothing is none of its
// business.
func (t *Task) CheckAnswers(answers []inquiry.Input) error {
	if t.State != InputRequired {
		return nil
	}
	for _, ask := range t.OpenAsks() {
		given := slices.IndexFunc(answers, func(a inquiry.Input) bool { return a.Key == ask.Key })
		if given < 0 {
			continue
		}
		if err := answers[given].CheckResponse(ask.Request); err != nil {
			return err
		}
	}
	return nil
}

// Answers are the client's, under the keys that the upstream gave.
func (t *Task) Answers() []inquiry.Input {
	var given []inquiry.Input
	for _, ask := range t.Asks {
		if ask.Answer != nil {
			given = append(given, inquiry.Input{Key: ask.Upstream, Value: ask.Answer})
		}
	}
	return given
}

// Outstanding are the open asks as the Tasks extension shows them: those between two
// rounds.
func (t *Task) Outstanding() []inquiry.Input {
	if t.State != InputRequired {
		return nil
	}
	var open []inquiry.Input
	for _, ask := range t.OpenAsks() {
		open = append(open, inquiry.Input{Key: ask.Key, Value: ask.Request})
	}
	return open
}

// IsAsked reports whether an ask is open, or answered in the round that is due.
func (t *Task) IsAsked(key string) bool {
	return slices.ContainsFunc(t.Asks, func(a Ask) bool { return a.Key == key })
}

// MayAsk reports whether a call may have this request open. One that is, and is replayed,
// stays so.
func (t *Task) MayAsk(key string, request []byte) bool {
	size := len(request)
	for _, ask := range t.Asks {
		size += len(ask.Request)
	}
	return t.IsAsked(key) || len(t.Asks) == 0 || len(t.Asks) < MaxAsks && size <= MaxAskBytes
}

const (
	// MaxAsks bounds how many requests of a call may be open at once.
	MaxAsks = 32
	// MaxAskBytes bounds them together, unless there is only one, and what is asked between two rounds: each change of the
	// record writes them anew.
	MaxAskBytes = 8 << 20
)
