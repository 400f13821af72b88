package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// ambiguousError marks JSON that is well formed, and that two readers could understand differently.
type ambiguousError struct{ reason, name string }

func (e ambiguousError) Error() string { return fmt.Sprintf("%s: %q", e.reason, e.name) }

// Reasons of an ambiguousError, as they stand in an error's data.
const (
	reasonDuplicateKey = "duplicate_key"
	reasonKeyCase      = "key_case"
)

var errNotObject = errors.New("mcp: not an object")

// members calls visit for each member of the one object in data, in order. It fails on what is no
// JSON or ambiguous: duplicate names, and names that differ from one of known only in case, which
// it does not visit.
func members(data []byte, known []string, visit func(name []byte, value jsontext.Value) error) error {
	return walk(data, known, func(s span) error { return visit(s.name, data[s.from:s.to:s.to]) })
}

// named returns the values of these members, nil for one that is not there, and is as strict about
// them as members.
func named(object []byte, names ...string) ([]jsontext.Value, error) {
	return pick(object, names, names)
}

// loose is named for members of which it does not matter how else somebody could read them.
func loose(object []byte, names ...string) ([]jsontext.Value, error) { return pick(object, nil, names) }

func pick(object []byte, known, names []string) ([]jsontext.Value, error) {
	values := make([]jsontext.Value, len(names))
	err := members(object, known, func(name []byte, value jsontext.Value) error {
		for i, want := range names {
			if string(name) == want {
				values[i] = value
			}
		}
		return nil
	})
	return values, err
}

type span struct {
	name     []byte
	lead     int // where the comma and the blanks before the name begin
	from, to int // the value
}

// walk is members for those who need to know where a member stands.
func walk(data []byte, known []string, visit func(s span) error) error {
	if jsontext.Value(data).Kind() != '{' {
		return errNotObject
	}
	r, g := reader{Scanner: jsonscan.New(data)}, guard(known...)
	o := r.open(&g)
	for r.next(&o) {
		m := span{lead: r.lead}
		m.name, _ = nameOf(&r.Scanner)
		value := r.Value()
		if r.Err() != nil {
			break
		}
		m.to = r.At()
		m.from = m.to - len(value)
		o.note(visit(m))
	}
	if !r.End() {
		return r.Err()
	}
	return o.fault
}

// NarrowListen returns a subscriptions/listen with its taskIds reduced to keep; every other byte
// stays.
func NarrowListen(body []byte, keep []string) []byte {
	ids, _ := json.Marshal(append([]string{}, keep...))
	return replace(body, ids, "params", "notifications", "taskIds")
}

func replace(body, value []byte, path ...string) []byte {
	from, to, ok := locate(body, path...)
	if !ok {
		return body
	}
	out := make([]byte, 0, from+len(value)+len(body)-to)
	out = append(out, body[:from]...)
	out = append(out, value...)
	return append(out, body[to:]...)
}

// memberAt returns the value that path leads to, which aliases data; nil if there is none.
func memberAt(data []byte, path ...string) jsontext.Value {
	from, to, ok := locate(data, path...)
	if !ok {
		return nil
	}
	return data[from:to]
}

func locate(data []byte, path ...string) (from, to int, ok bool) {
	s := jsonscan.New(data)
	for _, want := range path {
		if !enter(&s, want) {
			return 0, 0, false
		}
	}
	value := s.Value()
	return s.At() - len(value), s.At(), s.Err() == nil
}

// enter steps up to the value of the next object's member of that name, if it has one.
func enter(s *jsonscan.Scanner, name string) bool {
	if s.Kind() != '{' || !s.Open('{') {
		return false
	}
	for {
		quoted, ok := s.Name()
		if !ok {
			return false
		}
		if own, _ := unquote(quoted); string(own) == name {
			return true
		}
		s.Value()
	}
}

// PollResult returns the result that a tasks/get would have had at the moment of a, in its dialect: a part of a, or in room.
func (a *Answer) PollResult(room []byte) []byte {
	switch a.Dialect {
	case DialectExtension:
		if from, to, ok := locate(a.Result, "resultType"); ok {
			return append(append(append(room[:0], a.Result[:from]...), `"complete"`...), a.Result[to:]...)
		}
	case DialectCore:
		return memberAt(a.Result, "task")
	}
	return a.Result
}

// WithStatusMessage returns the result of a tasks/get with this statusMessage.
func WithStatusMessage(result []byte, message string) []byte {
	text, _ := json.Marshal(message)
	if _, _, ok := locate(result, "statusMessage"); ok {
		return replace(result, text, "statusMessage")
	}
	end := bytes.LastIndexByte(result, '}')
	if end < 0 {
		return result
	}
	out := append(make([]byte, 0, len(result)+len(text)+20), result[:end]...)
	if !bytes.HasSuffix(bytes.TrimSpace(out), []byte("{")) {
		out = append(out, ',')
	}
	out = append(append(out, `"statusMessage":`...), text...)
	return append(out, result[end:]...)
}

// AsEnded returns the result of a tasks/get with a status that is an end, and this statusMessage; nil where that would not be
// whole: it has no status, or asks for input.
func AsEnded(result []byte, status, message string) []byte {
	if memberAt(result, "status") == nil || memberAt(result, "inputRequests") != nil {
		return nil
	}
	return WithStatusMessage(replace(result, []byte(`"`+status+`"`), "status"), message)
}

// ID returns the raw id of a message that Peek takes, which it aliases; nil if it may not be
// answered to.
func ID(message []byte) []byte {
	if id := memberAt(message, "id"); isToken(id) {
		return id
	}
	return nil
}

// WithID returns a JSON-RPC response under another id; every other byte stays.
func WithID(message, id []byte) []byte { return replace(message, id, "id") }

// ErrorResponse returns the JSON-RPC response under this raw id with this error object.
func ErrorResponse(id, object []byte) []byte { return response(id, "error", object) }

// Response returns the JSON-RPC response under this raw id with this result.
func Response(id, result []byte) []byte { return response(id, "result", result) }

func response(id []byte, member string, value []byte) []byte {
	return slices.Concat([]byte(responseBegin), id, []byte(`,"`), []byte(member), []byte(`":`), value, []byte{'}'})
}

// responseBegin begins a response, up to its id.
const responseBegin = `{"jsonrpc":"2.0","id":`

// ErrorParts is ErrorResponse without a copy of a large object.
func ErrorParts(id, object []byte) Parts {
	return around(responseHead(id, "error"), object, []byte{'}'})
}

func responseHead(id []byte, member string) []byte {
	return slices.Concat([]byte(responseBegin), id, []byte(`,"`+member+`":`))
}

// EmptyResponse acknowledges a modern request that has no result of its own (Tasks extension, "Task
// Cancellation").
func EmptyResponse(id []byte) []byte {
	return Response(id, []byte(`{"resultType":"complete",`+ownMeta+`}`))
}
