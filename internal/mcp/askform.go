package mcp

import (
	"unicode/utf8"

	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// IsClear reports whether clients can read what a server asks them by a request of [AsksClient] (2026-07-28, schema, "ElicitRequestParams",
// "CreateMessageRequestParams"): of its members the ones that say what is asked, and how.
func IsClear(request []byte) bool {
	members, _ := loose(request, "method", "params")
	method, _ := text(members[0])
	if method == MethodListRoots {
		return true
	}
	if members[1].Kind() != '{' || !utf8.Valid(request) {
		return false
	}
	params, _ := loose(members[1], "message", "mode", "requestedSchema", "url", "messages")
	if method == methodSample {
		return params[4].Kind() == '['
	}
	return params[0].Kind() == '"' && isMode(params[1], params[2], params[3])
}

// isMode reports whether an elicitation has a mode that there is, with what belongs to it. Servers that want no more than a yes leave the
// schema out.
func isMode(mode, schema, url jsontext.Value) bool {
	name, _ := text(mode)
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
	changes := patch{{name: "_meta"}}
	members, _ := loose(params, "mode", "requestedSchema")
	mode, _ := text(members[0])
	if method == methodElicit && lacks(members[0]) {
		changes = append(changes, change{name: "mode"})
	}
	if method == methodElicit && mode != "url" && lacks(members[1]) {
		changes = append(changes, change{name: "requestedSchema", value: []byte(`{"type":"object","properties":{}}`)})
	}
	told, err := changes.apply(params)
	if err != nil {
		return params
	}
	return told
}

// RequiredElicitations are what a response with CodeElicitFirst requires, each as the request that a server would make.
func RequiredElicitations(message []byte) (requests [][]byte) {
	list := memberAt(ErrorObject(message), "data", "elicitations")
	if list.Kind() != '[' {
		return nil
	}
	s := jsonscan.New(list)
	for s.Open('['); s.Element(); {
		if s.Kind() != '{' {
			continue
		}
		params, err := (patch{{name: "elicitationId"}, {name: "mode", value: []byte(`"url"`)}}).apply(s.Value())
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
	says, _ := loose(value, "action")
	action, _ := text(says[0])
	return action
}

// isAnswer reports whether an object is an answer of a client's to what such a request asks (2026-07-28, schema, "ElicitResult",
// "CreateMessageResult", "ListRootsResult").
func isAnswer(request, value []byte) bool {
	members, _ := loose(request, "method")
	method, _ := text(members[0])
	says, _ := loose(value, "role", "roots")
	switch method {
	case methodElicit:
		action := actionIn(value)
		return action == "accept" || action == "decline" || action == "cancel"
	case methodSample:
		return says[0].Kind() == '"'
	}
	return says[1].Kind() == '['
}
