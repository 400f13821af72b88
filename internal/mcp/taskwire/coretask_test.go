package taskwire

import (
	"berth/internal/mcp"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

var coreTask = Core{
	ID: "t<1>", Status: "working", Created: time.Date(2026, 1, 2, 4, 4, 5, 678_900_000, time.FixedZone("", 3600)),
	Updated: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), TTL: time.Hour, PollInterval: 1500 * time.Millisecond,
}

const coreTaskText = `{"taskId":"t<1>","status":"working",` +
	`"createdAt":"2026-01-02T03:04:05.678Z","lastUpdatedAt":"2026-01-02T03:04:06.000Z","ttl":3600000,"pollInterval":1500}`

func TestCoreTaskInEachOfItsShapes(t *testing.T) {
	for want, got := range map[string][]byte{
		`{"task":` + coreTaskText + `}`: coreTask.Handle(),
		coreTaskText:                    coreTask.Task(),
		`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":` + coreTaskText + `}`: coreTask.StatusNotification(),
		`{"tasks":[` + coreTaskText + `]}`: List{Tasks: []Listed{coreTask.Listed()}}.Result(),
	} {
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	a, err := mcp.PeekAnswer(mcp.Response([]byte("1"), coreTask.Handle()), false)
	if err != nil || !a.CreatesTask() || a.Dialect != mcp.DialectCore || a.Task != (mcp.Task{ID: "t<1>", Status: "working", TTL: time.Hour}) {
		t.Errorf("read back as %+v, %v", a, err)
	}
	list, err := ReadList(List{Tasks: []Listed{coreTask.Listed()}}.Result())
	if err != nil || len(list.Tasks) != 1 || list.Tasks[0].ID != "t<1>" {
		t.Errorf("the list is read back as %+v, %v", list, err)
	}
}

// The ttl is there also where it is unlimited (2025-11-25, tasks, "TTL and Resource
// Management").
func TestCoreTaskSaysNullForAnUnlimitedTTL(t *testing.T) {
	task := coreTask
	task.Message, task.TTL, task.PollInterval = `a "b"`, 0, 0
	want := `{"taskId":"t<1>","status":"working","statusMessage":"a \"b\"",` +
		`"createdAt":"2026-01-02T03:04:05.678Z","lastUpdatedAt":"2026-01-02T03:04:06.000Z","ttl":null}`
	if got := string(task.Task()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRelatedTaskChangesNothingElse(t *testing.T) {
	const related = `"io.modelcontextprotocol/related-task":{"taskId":"t\"1"}`
	for result, want := range map[string]string{
		`{}`:                          `{"_meta":{` + related + `}}`,
		` { } `:                       ` {"_meta":{` + related + `} } `,
		`{ "content" : [ ] }`:         `{ "content" : [ ],"_meta":{` + related + `} }`,
		`{"_meta":null,"a":1}`:        `{"_meta":{` + related + `},"a":1}`,
		`{"_meta":{ "x" : 1 },"a":1}`: `{"_meta":{ "x" : 1,` + related + ` },"a":1}`,
		`{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"other","x":1}, "y":2}}`: `{"_meta":{` + related + `, "y":2}}`,
		`{"a":{"_meta":1}}`:        `{"a":{"_meta":1},"_meta":{` + related + `}}`,
		`{"_meta":"none"}`:         `{"_meta":"none"}`,
		`{"_meta":{},"_meta":{}}`:  `{"_meta":{},"_meta":{}}`,
		`{"a":1,"a":2,"_meta":{}}`: `{"a":1,"a":2,"_meta":{}}`,
		`[1]`:                      `[1]`,
	} {
		if got := string(RelatedResponse([]byte("7"), []byte(result), `t"1`).Bytes()); got != `{"jsonrpc":"2.0","id":7,"result":`+want+`}` {
			t.Errorf("%s:\ngot  %s\nwant %s", result, got, want)
		}
		large := strings.Repeat(" ", mcp.Copied) // before it, so that nothing else is another
		if got := RelatedResponse([]byte("7"), []byte(large+result), `t"1`); string(got.Bytes()) != `{"jsonrpc":"2.0","id":7,"result":`+large+want+`}` {
			t.Errorf("a large %s:\ngot  %s\nwant %s", result, bytes.TrimLeft(got.Bytes(), " "), want)
		}
	}
}

func TestMessageSaysInItsParamsWhichTaskItBelongsTo(t *testing.T) {
	const related = `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}`
	for message, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"7","method":"elicitation/create","params":{"message":"?"}}`: `{"jsonrpc":"2.0","id":"7","method":"elicitation/create","params":{"message":"?",` + related + `}}`,
		`{"jsonrpc":"2.0", "id":7,"method":"roots/list"}`:                                   `{"jsonrpc":"2.0", "id":7,"method":"roots/list","params":{` + related + `}}`,
		`{"method":"x","params":[1]}`:                                                       `{"method":"x","params":[1]}`,
	} {
		if got := string(RelatedMessage([]byte(message), "t")); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestTaskProgressBearsTheTokenOfTheClient(t *testing.T) {
	got := Progress([]byte(`{"progressToken":"berth-1","progress":0.50, "total":1}`), []byte(`7`), "t")
	want := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":0.50, "total":1,` +
		`"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}`
	if string(got) != want || !json.Valid(got) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if p, ok := mcp.PeekProgress(got); !ok || string(p.Token) != "7" || p.Text() != "0.50/1" {
		t.Errorf("read back as %+v, %v", p, ok)
	}
}
