package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func toolCall(size int) []byte {
	head := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + meta + `,"name":"greet","arguments":{"text":"`
	return []byte(head + strings.Repeat("x", size-len(head)-4) + `"}}}`)
}

// Messages of some 500 B, as clients and servers write them.
var (
	usualMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"example-client","version":"1.4.2"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}},` +
		`"progressToken":"tok-17"}`
	usualCall = []byte(request("tools/call", `"name":"search_documents","arguments":{"query":"how to rotate the keys of a host","limit":20,`+
		`"filters":{"language":"en","tags":["ops"]}},`+usualMeta))
	usualPoll   = []byte(request("tasks/get", `"taskId":"`+usualTaskID+`",`+usualMeta))
	usualResult = []byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"` + strings.Repeat("x", 240) +
		`"}],"structuredContent":{"hits":[{"id":12,"score":0.25},{"id":13,"score":0.125}]},"isError":false,` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example-server","version":"2.0.1"}}}}`)
	usualTask = []byte(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"` + usualTaskID + `",` +
		`"status":"working","statusMessage":"` + strings.Repeat("x", 120) + `","createdAt":"2026-07-28T10:30:00Z",` +
		`"lastUpdatedAt":"2026-07-28T10:40:00Z","ttlMs":60000,"pollIntervalMs":1000,` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example-server","version":"2.0.1"}}}}`)
)

const usualTaskID = "786512e2-9e0d-44bd-8f29-789f320fe840"

// bench runs step over body, and beside it what encoding/json takes to read the same members.
func bench(b *testing.B, name string, body []byte, step func(b *testing.B, body []byte)) {
	b.Helper()
	for by, step := range map[string]func(*testing.B, []byte){"berth": step, "encoding-json": unmarshal} {
		b.Run(name+"/"+by, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				step(b, body)
			}
		})
	}
}

// unmarshal reads by encoding/json what berth reads of a message.
func unmarshal(b *testing.B, body []byte) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  struct {
			Name         string          `json:"name"`
			TaskID       string          `json:"taskId"`
			Cursor       string          `json:"cursor"`
			RequestState string          `json:"requestState"`
			Task         json.RawMessage `json:"task"`
			Meta         struct {
				Version      string `json:"io.modelcontextprotocol/protocolVersion"`
				Capabilities struct {
					Extensions map[string]json.RawMessage `json:"extensions"`
				} `json:"io.modelcontextprotocol/clientCapabilities"`
				ProgressToken json.RawMessage `json:"progressToken"`
				TraceParent   string          `json:"traceparent"`
				TraceState    string          `json:"tracestate"`
			} `json:"_meta"`
		} `json:"params"`
		Result struct {
			ResultType string  `json:"resultType"`
			TaskID     string  `json:"taskId"`
			Status     string  `json:"status"`
			TTL        float64 `json:"ttlMs"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkPeek(b *testing.B) {
	objects := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"rows":[` +
		strings.Repeat(`{"id":12,"name":"row","tags":["a","b"]},`, 100_000) + `{}]}}}`
	var m Message
	for name, body := range map[string][]byte{
		"call": usualCall, "poll": usualPoll, "500B of text": toolCall(500), "4MiB": toolCall(4 << 20), "4MB of objects": []byte(objects),
	} {
		bench(b, name, body, func(b *testing.B, body []byte) {
			if _, refusal := m.Peek(body, testBatch); refusal != nil {
				b.Fatal(refusal)
			}
		})
	}
}

// BenchmarkSizes is what a client's message and an answer cost by their size, as clients and servers write them.
func BenchmarkSizes(b *testing.B) {
	var m Message
	for _, size := range []int{200, 600, 4000} {
		for name, body := range map[string][]byte{"call": sizedCall("tools/call", `"name":"greet"`, size), "poll": sizedCall("tasks/get", `"taskId":"`+usualTaskID+`"`, size)} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = m.Peek(body, testBatch)
				}
			})
		}
		answer := sizedAnswer(size)
		b.Run(fmt.Sprintf("answer/%d", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var a Answer
				_ = a.PeekTo(usualTaskID, answer, false)
			}
		})
	}
}

// sizedCall is a call of some size bytes, whose params end with `_meta`. What is left of a small one is no such thing.
func sizedCall(method, params string, size int) []byte {
	switch {
	case size < 400:
		params += `,"_meta":{"` + MetaVersion + `":"2026-07-28","` + MetaCapabilities + `":{}}`
	case method == "tools/call":
		params += `,"arguments":{"query":"how to rotate","limit":20,"rows":[` + rows(size-560) + `]},` + usualMeta
	default:
		params += `,` + usualMeta
	}
	body := request(method, params)
	if pad := size - len(body) - len(`,"x":""`); pad > 0 {
		body = strings.TrimSuffix(body, "}") + `,"x":"` + strings.Repeat("x", pad) + `"}`
	}
	return []byte(body)
}

func sizedAnswer(size int) []byte {
	task := `"resultType":"complete","taskId":"` + usualTaskID + `","status":"working","createdAt":"2026-07-28T10:30:00Z",` +
		`"lastUpdatedAt":"2026-07-28T10:40:00Z","ttlMs":60000,"pollIntervalMs":1000`
	body := `{"jsonrpc":"2.0","id":1,"result":{` + task
	if pad := size - len(body) - len(`,"statusMessage":""}}`); pad > 0 {
		body += `,"statusMessage":"` + strings.Repeat("x", pad) + `"`
	}
	return []byte(body + "}}")
}

func rows(size int) string {
	const row = `{"id":12,"name":"row","tags":["a","b"]},`
	return strings.Repeat(row, max(size, 0)/len(row)) + "{}"
}

// What Classify adds are the strings that the headers do not have.
func BenchmarkClassify(b *testing.B) {
	h := header("Mcp-Protocol-Version", modern, "Mcp-Method", "tasks/get", "Mcp-Name", usualTaskID)
	var m Message
	if _, refusal := m.Peek(usualPoll, testBatch); refusal != nil {
		b.Fatal(refusal)
	}
	b.ReportAllocs()
	for b.Loop() {
		if refusal := Classify(&m, h); refusal != nil {
			b.Fatal(refusal)
		}
	}
}

func BenchmarkPeekAnswer(b *testing.B) {
	for name, body := range map[string][]byte{"result": usualResult, "task": usualTask} {
		bench(b, name, body, func(b *testing.B, body []byte) {
			var a Answer
			if err := a.PeekTo(usualTaskID, body, false); err != nil {
				b.Fatal(err)
			}
		})
	}
	long := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", MaxPeek))[:MaxPeek]
	b.Run("cut", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(MaxPeek)
		for b.Loop() {
			if _, err := PeekAnswer(long, true); err != nil {
				b.Fatal(err)
			}
		}
	})
}
