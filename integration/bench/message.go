//go:build linux

package main

import "fmt"

// Messages of both eras as clients send them, rendered whole.

const (
	// meta is what each modern request says of its client.
	meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

	common = "Host: localhost\r\nUser-Agent: bench/1.0.0\r\nAccept: application/json, text/event-stream\r\n" +
		"Accept-Language: *\r\nSec-Fetch-Mode: cors\r\nAuthorization: Bearer 0123456789abcdef0123456789abcdef0123456789abcdef\r\n"
)

// modern is a request of 2026-07-28; name is what Mcp-Name repeats, "" nothing.
func modern(method, name, params string) []byte {
	header := "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + method + "\r\n"
	if name != "" {
		header += "Mcp-Name: " + name + "\r\n"
	}
	return post(header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, params, meta))
}

func post(header, body string) []byte {
	return fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\n%s%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", common, header, len(body), body)
}

func callTool(name string) []byte {
	return modern("tools/call", name, fmt.Sprintf(`"name":%q,"arguments":{"text":"the quick brown fox jumps over the lazy dog","times":3},`, name))
}

func pollTask(id string) []byte {
	return modern("tasks/get", id, fmt.Sprintf(`"taskId":%q,`, id))
}

func listTools() []byte { return modern("tools/list", "", "") }
func initialize() []byte {
	return post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+
		`"clientInfo":{"name":"bench","version":"1.0.0"}}}`)
}

// standingStream asks for the stream of a session.
func standingStream(session string) []byte {
	return fmt.Appendf(nil, "GET /mcp HTTP/1.1\r\n%sMCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\n\r\n", common, session)
}
