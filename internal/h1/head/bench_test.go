package head

import (
	"net"
	"strings"
	"testing"

	"berth/internal/h1/buffer"
)

// endless says the same again and again, each of its texts in turn.
type endless struct {
	net.Conn
	texts []string
	n     int
}

func (e *endless) Read(p []byte) (int, error) {
	e.n++
	return copy(p, e.texts[e.n%len(e.texts)]), nil
}

const asked = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: bench\r\nContent-Length: 0\r\nAccept: application/json, text/event-stream\r\n" +
	"Authorization: Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\r\nContent-Type: application/json\r\nMcp-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: 3a1c4be0f3\r\n\r\n"

func read(b *testing.B, texts ...string) {
	var src buffer.Reader
	src.Reset(&endless{texts: texts})
	var p Parser
	b.ReportAllocs()
	for b.Loop() {
		r, err := p.Request(&src, 4<<10, nil)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = src.Discard(int(r.Length))
	}
}

func BenchmarkRequest(b *testing.B) { read(b, asked) }

// BenchmarkOthers is of requests of several callers, for bodies of other lengths, in other methods.
func BenchmarkOthers(b *testing.B) {
	other := strings.NewReplacer("Length: 0", "Length: 12", "0.1:8080", "0.1:8080\r\nMcp-Method: tools/call", "eyJ", "fzK", "3a1", "4b2").Replace(asked)
	read(b, asked, other+"{\"jsonrpc\":}")
}
