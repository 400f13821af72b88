package client

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"berth/internal/mcp"
)

// The newest revision of each era.
const (
	Modern = "2026-07-28"
	Legacy = "2025-11-25"
)

// Message is one message to a server.
type Message struct {
	// Version is the protocol revision that the message is of, and with it its era.
	// Empty: legacy, and not said, as with initialize.
	Version string

	// Session is the legacy session that it belongs to; empty: none.
	Session string

	// ID is the JSON-RPC id of a request; 0 makes it a notification.
	ID int

	// Method is the JSON-RPC method.
	Method string

	// Params are its parameters; nil: none. A modern message's `_meta` is completed by
	// what each must say of itself.
	Params map[string]any
}

// Info is what a client calls itself, to be said in initialize and in each modern
// message.
func Info(name string) map[string]any {
	return map[string]any{"name": name, "version": "1.0.0"}
}

func (m Message) modern() bool { return mcp.IsModern(m.Version) }

// encode returns the body of the request, name being what the client calls itself.
func (m Message) encode(name string) ([]byte, error) {
	message := map[string]any{"jsonrpc": "2.0", "method": m.Method}
	if m.ID != 0 {
		message["id"] = m.ID
	}
	params := m.Params
	if m.modern() {
		params = m.withMeta(name)
	}
	if params != nil {
		message["params"] = params
	}
	body, err := json.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("client: encode %s: %w", m.Method, err)
	}
	return body, nil
}

// withMeta returns the parameters with the `_meta` of a modern message (2026-07-28,
// basic, "_meta"). It declares the Tasks extension, which is a matter of each request.
func (m Message) withMeta(name string) map[string]any {
	meta := mcp.OwnMeta(m.Version)
	meta["io.modelcontextprotocol/clientInfo"] = Info(name)
	if more, ok := m.Params["_meta"].(map[string]any); ok {
		maps.Copy(meta, more)
	}
	params := maps.Clone(m.Params)
	if params == nil {
		params = map[string]any{}
	}
	params["_meta"] = meta
	return params
}

// setHeaders sets what the transport of the message's era wants.
func (m Message) setHeaders(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	if m.Version != "" {
		h.Set(mcp.HeaderVersion, m.Version)
	}
	if m.Session != "" {
		h.Set(mcp.HeaderSession, m.Session)
	}
	if !m.modern() {
		return
	}
	h.Set(mcp.HeaderMethod, m.Method)
	if name := m.name(); name != "" {
		h.Set(mcp.HeaderName, mcp.EncodeName(name))
	}
}

// name is what Mcp-Name repeats of the parameters, "" where there is no such header
// (2026-07-28, Streamable HTTP, "Standard Request Headers"; Tasks extension, "Routing
// Headers").
func (m Message) name() string {
	for _, member := range []string{"taskId", "name"} {
		if value, ok := m.Params[member].(string); ok {
			return value
		}
	}
	return ""
}
