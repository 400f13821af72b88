package upstream

import (
	"fmt"
	"strconv"
	"strings"
)

// The tools that instances have.
const (
	Echo   = "echo"   // answers at once
	Make   = "make"   // makes a task
	Report = "report" // answers at once; a proxy may make a task of it
	Talk   = "talk"   // answers by a stream of TalkEvents notifications and the result
	Hold   = "hold"   // begins a stream, and runs until its connection ends; a proxy may make a task of it
)

// TalkEvents are the notifications that Talk sends before its result.
const TalkEvents = 50

// answerSize is the length of what a tool says.
const answerSize = 512

var (
	toolResult = `{"resultType":"complete","content":[{"type":"text","text":"` + strings.Repeat("x", answerSize) + `"}]}`
	toolList   = `{"resultType":"complete","ttlMs":0,"cacheScope":"public","tools":[` + strings.Join(tools(12), ",") + `]}`
	opened     = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1.0.0"}}`
)

const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d,"total":50,"message":"a part of the work is done"}}`

// taskFormat is a task at work, told by a creation ("task") and by a poll ("complete").
const taskFormat = `{"resultType":"%s","taskId":"%s","status":"working","statusMessage":"computing",` +
	`"createdAt":"2026-07-28T10:30:00.000Z","lastUpdatedAt":"2026-07-28T10:30:00.000Z","ttlMs":3600000,"pollIntervalMs":1000}`

func tools(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"name":"tool_%d","description":"Does one of the things that this server is there for, and tells how it went.",`+
			`"inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"What it is done with."},`+
			`"times":{"type":"integer","minimum":1,"maximum":10}},"required":["text"]}}`, i))
	}
	return all
}

// answer is the HTTP answer to a POST.
func (i *Instance) answer(r *request) []byte {
	id := r.id()
	switch {
	case id == nil:
		return []byte("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
	case r.initializes():
		return ok("Mcp-Session-Id: "+i.newID()+"\r\n", id, opened)
	case r.method == "tasks/get":
		i.countPoll(r.name)
		return ok("", id, fmt.Sprintf(taskFormat, "complete", r.name))
	case r.method == "tools/list":
		return ok("", id, toolList)
	case r.method != "tools/call":
		return ok("", id, "{}")
	case r.name == Make:
		return ok("", id, fmt.Sprintf(taskFormat, "task", i.newID()))
	default:
		i.fleet.calls.Add(1)
		return ok("", id, toolResult)
	}
}

// ok is an answer of one JSON-RPC response.
func ok(header string, id []byte, result string) []byte {
	body := len(`{"jsonrpc":"2.0","id":,"result":}`) + len(id) + len(result)
	b := make([]byte, 0, body+len(header)+128)
	b = append(b, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"...)
	b = append(b, header...)
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(body), 10)
	b = append(b, "\r\n\r\n"+`{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	return append(b, '}')
}
