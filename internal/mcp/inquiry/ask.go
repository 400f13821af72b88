package inquiry

import (
	"unicode/utf8"

	"berth/internal/jsonobject"
	"berth/internal/jsonscan"
	"berth/internal/mcp"

	"github.com/go-json-experiment/json/jsontext"
)

// IsClear reports whether clients can read what a server asks them by a request that they answer in rounds (2026-07-28, schema, "ElicitRequestParams",
// "CreateMessageRequestParams"): of its members the ones that say what is asked, and how.
func IsClear(request []byte) bool {
	members, _ := jsonobject.Loose(request, "method", "params")
	method, _ := jsonobject.Text(members[0])
	switch {
	case !utf8.Valid(request):
		return false
	case method == MethodListRoots:
		return true
	case members[1].Kind() != '{':
		return false
	}
	params, _ := jsonobject.Loose(members[1], "message", "mode", "requestedSchema", "url", "messages")
	if method == methodSample {
		return params[4].Kind() == '['
	}
	return params[0].Kind() == '"' && isMode(params[1], params[2], params[3])
}

// isMode reports whether an elicitation has a mode that there is, with what belongs to it. Servers that want no more than a yes leave the
// schema out.
func isMode(mode, schema, url jsontext.Value) bool {
	name, _ := jsonobject.Text(mode)
	switch {
	case lacks(mode), name == "form":
		return lacks(schema) || schema.Kind() == '{'
	case name == "url":
		return url.Kind() == '"'
	}
	return false
}

// lacks reports whether a member is not there, or null.
func lacks(member jsontext.Value) bool { return member == nil || member.Kind() == 'n' }

// clearParams are the params of what a server asks as the modern era has them: without _meta, and an elicitation with a schema.
func clearParams(method string, params []byte) []byte {
	changes := jsonobject.Patch{{Name: "_meta"}}
	members, _ := jsonobject.Loose(params, "mode", "requestedSchema")
	mode, _ := jsonobject.Text(members[0])
	if method == methodElicit && lacks(members[0]) {
		changes = append(changes, jsonobject.Change{Name: "mode"})
	}
	if method == methodElicit && mode != "url" && lacks(members[1]) {
		changes = append(changes, jsonobject.Change{Name: "requestedSchema", Value: []byte(`{"type":"object","properties":{}}`)})
	}
	told, err := changes.Apply(params)
	if err != nil {
		return params
	}
	return told
}

// RequiredElicitations are what a response with CodeElicitFirst requires, each as the request that a server would make.
func RequiredElicitations(message []byte) (requests [][]byte) {
	list := jsonobject.At(mcp.ErrorObject(message), "data", "elicitations")
	if list.Kind() != '[' {
		return nil
	}
	s := jsonscan.New(list)
	for s.Open('['); s.Element(); {
		params, err := (jsonobject.Patch{{Name: "elicitationId"}, {Name: "mode", Value: []byte(`"url"`)}}).Apply(s.Value())
		request := append(append([]byte(`{"method":"`+methodElicit+`","params":`), params...), '}')
		if err == nil && IsClear(request) {
			requests = append(requests, request)
		}
	}
	return requests
}

// Accepts reports whether an answer to an elicitation says that the user agrees.
func Accepts(value []byte) bool {
	return actionIn(value) == "accept"
}

func actionIn(value []byte) string {
	says, _ := jsonobject.Loose(value, "action")
	action, _ := jsonobject.Text(says[0])
	return action
}

// isAnswer reports whether an object is an answer of a client's to what such a request asks (2026-07-28, schema, "ElicitResult",
// "CreateMessageResult", "ListRootsResult"). Of what asks for something else any is.
func isAnswer(request, value []byte) bool {
	members, _ := jsonobject.Loose(request, "method")
	method, _ := jsonobject.Text(members[0])
	says, _ := jsonobject.Loose(value, "role", "roots")
	switch method {
	case methodElicit:
		action := actionIn(value)
		return action == "accept" || action == "decline" || action == "cancel"
	case methodSample:
		return says[0].Kind() == '"'
	case MethodListRoots:
		return says[1].Kind() == '['
	}
	return true
}

// InputRequest is what of a server's request stands in inputRequests: its method and its params. These may be left out (2026-07-28,
// schema, "ListRootsRequest"), but some clients demand them.
func InputRequest(request []byte) []byte {
	values, err := jsonobject.Loose(request, "method", "params")
	if err != nil {
		return nil
	}
	params := []byte("{}")
	if values[1].Kind() == '{' {
		method, _ := jsonobject.Text(values[0])
		params = clearParams(method, values[1])
	}
	out := append([]byte(`{"method":`), values[0]...)
	out = append(append(out, `,"params":`...), params...)
	return append(out, '}')
}

// Bare is as much of a server's request as an answer to it is judged by: its method.
func Bare(request []byte) []byte {
	return append(append([]byte(`{"method":`), jsonobject.At(request, "method")...), '}')
}

// Result returns the result that asks a client for input.
func Result(asks []Input, state string) []byte {
	out := append([]byte(`{"resultType":"input_required","inputRequests":`), Inputs(asks)...)
	out = append(out, `,"requestState":`...)
	out = jsonobject.AppendString(out, state)
	return append(out, '}')
}

// IsElicitation reports whether a server's request asks the user something.
func IsElicitation(request []byte) bool {
	return jsonobject.IsString(jsonobject.At(request, "method"), methodElicit)
}
