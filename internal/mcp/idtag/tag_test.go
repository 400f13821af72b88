package idtag

import "testing"

func TestAnEventsNumbersBearTheTag(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":0,"method":"roots/list"}`
	for name, c := range map[string]struct{ raw, message, want string }{
		"id only":         {"id: 7\ndata: \n\n", "", "id: m-7\ndata: \n\n"},
		"no id":           {": a comment\n\n", "", ": a comment\n\n"},
		"an empty id":     {"id:\ndata: x\n\n", "", "id:\ndata: x\n\n"},
		"CRLF":            {"id:7\r\nretry: 5\r\n\r\n", "", "id: m-7\r\nretry: 5\r\n\r\n"},
		"a request":       {"event: message\ndata: " + request + "\n\n", request, "event: message\ndata: " + `{"jsonrpc":"2.0","id":"m-0","method":"roots/list"}` + "\n\n"},
		"a string id":     {"data: x\n\n", `{"jsonrpc":"2.0","id":"q\"","method":"ping"}`, "data: " + `{"jsonrpc":"2.0","id":"m-\"q\\\"\"","method":"ping"}` + "\n\n"},
		"several lines":   {"data: x\nid: 1\ndata: y\n\n", "{\n" + request[1:], "data: {\ndata: " + `"jsonrpc":"2.0","id":"m-0","method":"roots/list"}` + "\nid: m-1\n\n"},
		"a response":      {"data: x\n\n", `{"jsonrpc":"2.0","id":0,"result":{"method":"x"}}`, "data: x\n\n"},
		"a notification":  {"data: x\n\n", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"requestId":1}}`, "data: x\n\n"},
		"a cancellation":  {"data: x\n\n", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "data: " + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"m-1"}}` + "\n\n"},
		"a batch":         {"data: x\n\n", "[" + request + ` , {"jsonrpc":"2.0","id":1,"result":{}}]`, "data: " + `[{"jsonrpc":"2.0","id":"m-0","method":"roots/list"},{"jsonrpc":"2.0","id":1,"result":{}}]` + "\n\n"},
		"nonsense":        {"data: x\n\n", `{"id":`, "data: x\n\n"},
		"only a part":     {"id: 1\ndata: {\"id\":0,", "", "id: m-1\ndata: {\"id\":0,"},
		"half an id":      {"data: x\nid: 1", "", "data: x\nid: 1"},
		"something alike": {"identity: 1\n\n", "", "identity: 1\n\n"},
	} {
		if got := string(Event([]byte(c.raw), []byte(c.message), "m-")); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestOnlyATaggedAnswerIsUntagged(t *testing.T) {
	for response, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"m-0","result":{"id":"m-1"}}`: `{"jsonrpc":"2.0","id":0,"result":{"id":"m-1"}}`,
		`{"id": "m-\"q\\\"\"" ,"error":{"code":1}}`:          `{"id": "q\"" ,"error":{"code":1}}`,
		`{"id":0,"result":{}}`:                               "",
		`{"id":"0","result":{}}`:                             "",
		`{"id":"n-0","result":{}}`:                           "",
		`{"id":"m-","result":{}}`:                            "",
		`{"id":"m-0,\"method\":\"tools/call\"","result":{}}`: "",
		`{"id":"m-{}","result":{}}`:                          "",
		`{"id":null,"error":{"code":1}}`:                     "",
		`{"error":{"code":1}}`:                               "",
	} {
		got, ok := Untag([]byte(response), "m-")
		if string(got) != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", response, got, ok, want)
		}
	}
}
