package mcptest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// A call is one JSON-RPC message from a client.
type call struct {
	ID     json.RawMessage // nil in a notification
	Method string          // empty in a client's response
	Params params
	Result json.RawMessage // of a client's response
	Error  json.RawMessage // the same; nil if it has a result
}

// params is the union of what the methods served here read. Unknown members
// are ignored: real clients send task:{ttl} with tasks/get too.
type params struct {
	Name            string          `json:"name"`
	Arguments       json.RawMessage `json:"arguments"`
	TaskID          string          `json:"taskId"`
	Cursor          string          `json:"cursor"`
	RequestID       json.RawMessage `json:"requestId"`
	ProtocolVersion string          `json:"protocolVersion"`
	URI             string          `json:"uri"`
	Level           string          `json:"level"`
	Task            *taskParams     `json:"task"`
	Notifications   filter          `json:"notifications"`
	Meta            metaParams      `json:"_meta"`
}

// taskParams asks for a core task (2025-11-25 tasks, "Task Parameters").
type taskParams struct {
	TTL int64 `json:"ttl"` // milliseconds, 0 if not given
}

// metaParams is the part of _meta that decides how a call is served.
type metaParams struct {
	ProgressToken json.RawMessage `json:"progressToken"`
	Version       string          `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities  struct {
		Extensions map[string]json.RawMessage `json:"extensions"`
	} `json:"io.modelcontextprotocol/clientCapabilities"`
	NewTask     *draftTask `json:"modelcontextprotocol.io/task"`
	RelatedTask draftTask  `json:"modelcontextprotocol.io/related-task"`
}

// draftTask names a task in the first draft (SEP-1686, 3.1 and 4.7).
type draftTask struct {
	TaskID    string `json:"taskId"`
	KeepAlive int64  `json:"keepAlive"` // milliseconds since its end, 0 if not given
}

// isRequest tells a message that wants an answer from one that wants none.
func (c call) isRequest() bool { return c.Method != "" && c.ID != nil }

// takesTasks reports whether this very call declares the tasks extension.
func (c call) takesTasks() bool {
	_, ok := c.Params.Meta.Capabilities.Extensions[extensionTasks]
	return ok
}

// aboutTasks reports whether the call needs the tasks extension.
func (c call) aboutTasks() bool {
	return strings.HasPrefix(c.Method, "tasks/") || c.Method == methodListen && c.Params.Notifications.TaskIDs != nil
}

// An inbound is the body of one request: one call, or a batch of them.
type inbound struct {
	calls []call
	batch bool
}

// modern reports the era: the header says so, or the body brings the
// per-request version that no legacy message has.
func (in inbound) modern(version string) bool {
	return isModernVersion(version) || !in.batch && in.calls[0].Params.Meta.Version != ""
}

// methods are the names that the request is counted under.
func (in inbound) methods(httpMethod string) []string {
	if httpMethod != http.MethodPost {
		return []string{httpMethod}
	}
	if len(in.calls) == 0 {
		return []string{""}
	}
	names := make([]string, len(in.calls))
	for i, c := range in.calls {
		names[i] = c.Method
	}
	return names
}

func parseBody(httpMethod string, body []byte) (inbound, *failure) {
	if httpMethod != http.MethodPost {
		return inbound{}, nil
	}
	if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] == '[' {
		return parseBatch(trimmed)
	}
	c, err := parseCall(body)
	if err != nil {
		return inbound{}, err
	}
	return inbound{calls: []call{c}}, nil
}

func parseBatch(body []byte) (inbound, *failure) {
	var parts []json.RawMessage
	if err := json.Unmarshal(body, &parts); err != nil {
		return inbound{}, &failure{Code: codeParse, Message: "not JSON"}
	}
	if len(parts) == 0 {
		return inbound{}, &failure{Code: codeInvalidRequest, Message: "empty batch"}
	}
	in := inbound{batch: true}
	for _, part := range parts {
		c, err := parseCall(part)
		if err != nil {
			return inbound{}, err
		}
		in.calls = append(in.calls, c)
	}
	return in, nil
}

func parseCall(body []byte) (call, *failure) {
	var envelope struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if !json.Valid(body) {
		return call{}, &failure{Code: codeParse, Message: "not JSON"}
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return call{}, &failure{Code: codeInvalidRequest, Message: "not a JSON-RPC message"}
	}
	c := call{ID: envelope.ID, Method: envelope.Method, Result: envelope.Result, Error: envelope.Error}
	if len(envelope.Params) == 0 {
		return c, nil
	}
	if err := json.Unmarshal(envelope.Params, &c.Params); err != nil {
		return call{}, &failure{Code: codeInvalidParams, Message: "params do not fit the method"}
	}
	return c, nil
}
