package mcp

import (
	"errors"
	"testing"

	"berth/internal/wire"
	"time"
)

// asking peeks at a call with these params, in the version of the header.
func asking(t *testing.T, method, params, version string) *Call {
	t.Helper()
	message, _, refusal := peek([]byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`}}`), 1)
	if refusal != nil {
		t.Fatal(refusal)
	}
	header := new(wire.Header)
	header.Set(HeaderVersion, version)
	if refusal := Classify(message, header); refusal != nil {
		t.Fatal(refusal)
	}
	return &message.Calls[0]
}

func TestOnlyALegacyCallWithATaskObjectAsksForATask(t *testing.T) {
	const core, modern = "2025-11-25", "2026-07-28"
	for name, tc := range map[string]struct {
		method, params, version string
		want                    bool
	}{
		"an object":           {MethodCallTool, `"name":"a","task":{}`, core, true},
		"with more":           {MethodCallTool, `"task":{"ttl":1,"x":2},"name":"a"`, core, true},
		"no version":          {MethodCallTool, `"name":"a","task":{}`, "", true},
		"escaped":             {MethodCallTool, `"name":"a","t\u0061sk":{}`, core, true},
		"absent":              {MethodCallTool, `"name":"a"`, core, false},
		"null":                {MethodCallTool, `"name":"a","task":null`, core, false},
		"true":                {MethodCallTool, `"name":"a","task":true`, core, false},
		"a list":              {MethodCallTool, `"name":"a","task":[]`, core, false},
		"in another case":     {MethodCallTool, `"name":"a","Task":{}`, core, false},
		"among the arguments": {MethodCallTool, `"name":"a","arguments":{"task":{}}`, core, false},
		"another method":      {MethodTaskResult, `"taskId":"a","task":{}`, core, false},
		"the modern era":      {MethodCallTool, `"name":"a","task":{}`, modern, false},
	} {
		if got := asking(t, tc.method, tc.params, tc.version).AsksTask(); got != tc.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestTheTTLThatIsAskedForIsANumber(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	for name, tc := range map[string]struct {
		task  string
		ttl   time.Duration
		asked bool
		code  int
	}{
		"absent":     {`{}`, 0, false, 0},
		"null":       {`{"ttl":null}`, 0, false, 0},
		"a minute":   {`{"ttl":60000}`, time.Minute, true, 0},
		"a float":    {`{"x":1,"ttl":1.5e3}`, 1500 * time.Millisecond, true, 0},
		"none":       {`{"ttl":0}`, 0, true, 0},
		"less":       {`{"ttl":-1}`, 0, true, 0},
		"for ever":   {`{"ttl":1e300}`, century, true, 0},
		"even more":  {`{"ttl":1e999}`, century, true, 0},
		"a string":   {`{"ttl":"60000"}`, 0, false, CodeInvalidParams},
		"an object":  {`{"ttl":{}}`, 0, false, CodeInvalidParams},
		"a bool":     {`{"ttl":true}`, 0, false, CodeInvalidParams},
		"twice":      {`{"ttl":1,"ttl":2}`, 0, false, CodeInvalidRequest},
		"other case": {`{"TTL":1}`, 0, false, CodeInvalidRequest},
	} {
		ttl, asked, err := asking(t, MethodCallTool, `"name":"a","task":`+tc.task, "2025-11-25").AskedTTL()
		var refused *Error
		errors.As(err, &refused)
		if ttl != tc.ttl || asked != tc.asked || tc.code == 0 && err != nil || tc.code != 0 && (refused == nil || refused.Code != tc.code) {
			t.Errorf("%s: got %v, %v, %v", name, ttl, asked, err)
		}
	}
}
