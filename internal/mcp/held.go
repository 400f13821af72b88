package mcp

import (
	"bytes"
	"encoding/binary"

	"berth/internal/jsonobject"

	"github.com/go-json-experiment/json/jsontext"
)

// Round is one sending of a held call, which is sent once more for each time that it was answered.
type Round struct {
	// ID is the raw JSON of the request's id, one of its own for each round (2026-07-28, multi
	// round-trip requests, "Client Requirements"); nil keeps the original's.
	ID            []byte
	ProgressToken string // becomes params._meta.progressToken, as a string; "" takes the client's out

	// WithoutTask takes params.task out: the server answers with the result itself (2025-11-25,
	// tasks, "Creating Tasks").
	WithoutTask bool

	// Answered puts Responses and State into params, which else keeps what the client put there.
	Answered bool

	// Responses become params.inputResponses, under the server's own keys: a raw JSON object; nil leaves the member out.
	Responses []byte
	State     []byte // the raw JSON of params.requestState; nil leaves the member out
}

// Body returns the body of a single request that Peek takes as it is sent for a task: as r says,
// and without a declaration of the Tasks extension. Every other byte stays. The error is an *Error:
// -32602 if something goes into what is no object, -32600 for an ambiguous name.
func (r Round) Body(original []byte) ([]byte, error) {
	body, form := r.recallRound(original)
	if body != nil {
		return body, nil
	}
	p := r.patch()
	body, err := PatchRequest(p, original)
	if err == nil && form != nil {
		form.rememberRound(original, r.token(), p)
	}
	return body, err
}

// token is the raw progress token, nil for none.
func (r *Round) token() []byte {
	if r.ProgressToken == "" {
		return nil
	}
	return jsonobject.AppendString(nil, r.ProgressToken)
}

// withoutTasks takes a declaration of the Tasks extension out of a client's capabilities.
var withoutTasks = jsonobject.Patch{{Name: "extensions", Within: jsonobject.Patch{{Name: TasksExtension}}}}

// withTasks puts one in.
var withTasks = jsonobject.Setting([]byte("{}"), "params", "_meta", MetaCapabilities, "extensions", TasksExtension)

// DeclareTasks returns the body of a round as it declares the Tasks extension after all; nil if it does already, or declares nothing, as in
// the legacy era.
func DeclareTasks(round []byte) []byte {
	var m Message
	if _, refused := m.Peek(round, 1); refused != nil {
		return nil
	}
	if c := &m.Calls[0]; !c.hasCapabilities || c.DeclaresTasks {
		return nil
	}
	body, err := PatchRequest(withTasks, round)
	if err != nil {
		return nil
	}
	return body
}

func (r Round) patch() jsonobject.Patch {
	params := jsonobject.Patch{{Name: "_meta", Within: jsonobject.Patch{
		{Name: MemberProgressToken, Value: r.token()},
		{Name: MetaCapabilities, Within: withoutTasks},
	}}}
	if r.WithoutTask {
		params = append(params, jsonobject.Change{Name: MemberTask})
	}
	if r.Answered {
		params = append(params, jsonobject.Change{Name: MemberInputResponses, Value: r.Responses}, jsonobject.Change{Name: MemberRequestState, Value: r.State})
	}
	p := jsonobject.Patch{{Name: "params", Within: params}}
	if r.ID != nil {
		p = append(p, jsonobject.Change{Name: "id", Value: r.ID})
	}
	return p
}

// ownOfRequest are members of `_meta` that do not bear on the answer.
var ownOfRequest = map[string]bool{"progressToken": true, "traceparent": true, "tracestate": true, "baggage": true}

// MayGoOn reports whether a message may bring a requestState: one that does has its name.
func MayGoOn(body []byte) bool { return bytes.Contains(body, []byte(MemberRequestState)) }

// AppendQuestion appends what a single request that Peek takes asks, without what is its own.
// Requests with equal questions may share an answer, as far as their bodies go.
func AppendQuestion(question, body []byte) []byte {
	visit := func(object string, keep func(name []byte, value jsontext.Value) bool) func([]byte, jsontext.Value) error {
		return func(name []byte, value jsontext.Value) error {
			if keep(name, value) {
				question = appendPart(appendPart(appendPart(question, object), name), value)
			}
			return nil
		}
	}
	meta := visit("_meta", func(name []byte, _ jsontext.Value) bool { return !ownOfRequest[string(name)] })
	params := visit("params", func(name []byte, value jsontext.Value) bool {
		return string(name) != "_meta" || jsonobject.Each(value, nil, meta) != nil
	})
	_ = jsonobject.Each(body, nil, visit("", func(name []byte, value jsontext.Value) bool {
		return string(name) != "id" && (string(name) != "params" || jsonobject.Each(value, nil, params) != nil)
	}))
	return question
}

// appendPart appends s so that no two lists of parts are alike.
func appendPart[T []byte | jsontext.Value | string](to []byte, s T) []byte {
	return append(binary.BigEndian.AppendUint64(to, uint64(len(s))), s...)
}
