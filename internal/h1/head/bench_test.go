package head

import (
	"net"
	"testing"

	"berth/internal/h1/buffer"
)

// endless says the same again and again.
type endless struct {
	net.Conn
	text string
}

func (e *endless) Read(p []byte) (int, error) { return copy(p, e.text), nil }

func BenchmarkRequest(b *testing.B) {
	var src buffer.Reader
	src.Reset(&endless{text: "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: bench\r\nContent-Length: 0\r\nAccept: application/json, text/event-stream\r\n" +
		"Authorization: Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: 3a1c4be0f3\r\n\r\n"})
	var p Parser
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Request(&src, 4<<10, nil); err != nil {
			b.Fatal(err)
		}
	}
}
