package mcp

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
)

func toolCall(size int) []byte {
	head := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `,"name":"greet","arguments":{"text":"`
	return []byte(head + strings.Repeat("x", size-len(head)-4) + `"}}}`)
}

func BenchmarkPeek(b *testing.B) {
	objects := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"rows":[` +
		strings.Repeat(`{"id":12,"name":"row","tags":["a","b"]},`, 100_000) + `{}]}}}`
	for name, body := range map[string][]byte{
		"500B": toolCall(500), "1KiB": toolCall(1 << 10), "4MiB": toolCall(4 << 20), "4MB of objects": []byte(objects),
		"poll": []byte(request("tasks/get", `"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840",`+meta)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, _, refusal := Peek(body, testBatch); refusal != nil {
					b.Fatal(refusal)
				}
			}
		})
	}
}

// BenchmarkPeekBesideJSON reads the same members of the same envelope by encoding/json.
func BenchmarkPeekBesideJSON(b *testing.B) {
	body := toolCall(500)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		var envelope struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name string                     `json:"name"`
				Meta map[string]json.RawMessage `json:"_meta"`
			} `json:"params"`
		}
		if err := json.Unmarshal(body, &envelope); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPeekAnswer(b *testing.B) {
	const handle = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"786512e2-9e0d-44bd-8f29-789f320fe840",` +
		`"status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttlMs":60000}}`
	long := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", MaxPeek)
	for name, data := range map[string][]byte{"handle": []byte(handle), "cut": []byte(long[:MaxPeek])} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := PeekAnswer(data, name == "cut"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEventReader(b *testing.B) {
	progress := "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n"
	for name, stream := range map[string]string{
		"small events": strings.Repeat(progress, 10_000),
		"a long line":  "data: " + strings.Repeat("x", 8<<20) + "\n\n",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(stream)))
			for b.Loop() {
				er := NewEventReader(strings.NewReader(stream))
				for {
					if _, err := er.Next(); err == io.EOF {
						break
					}
				}
			}
		})
	}
}
