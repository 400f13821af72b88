package client

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"testing"
)

func TestMessagesOfEachEra(t *testing.T) {
	cases := map[string]struct {
		message Message
		headers map[string]string // "" is absent
		body    string
	}{
		"initialize": {
			Message{ID: 1, Method: "initialize", Params: map[string]any{"protocolVersion": Legacy}},
			map[string]string{"Mcp-Protocol-Version": "", "Mcp-Session-Id": "", "Mcp-Method": "", "Mcp-Name": ""},
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`,
		},
		"legacy call": {
			Message{Version: Legacy, Session: "s", ID: 2, Method: "tools/call", Params: map[string]any{"name": "t"}},
			map[string]string{"Mcp-Protocol-Version": Legacy, "Mcp-Session-Id": "s", "Mcp-Method": "", "Mcp-Name": ""},
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}}`,
		},
		"notification": {
			Message{Version: Legacy, Session: "s", Method: "notifications/initialized"},
			map[string]string{"Mcp-Session-Id": "s"},
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		},
		"modern call": {
			Message{Version: Modern, ID: 3, Method: "tools/call", Params: map[string]any{"name": "tääl", "_meta": map[string]any{"progressToken": 1}}},
			map[string]string{"Mcp-Protocol-Version": Modern, "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?dMOkw6Rs?="},
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"tääl","_meta":{"progressToken":1,` + metaJSON + `}}}`,
		},
		"modern poll": {
			Message{Version: Modern, ID: 4, Method: "tasks/get", Params: map[string]any{"taskId": "x"}},
			map[string]string{"Mcp-Method": "tasks/get", "Mcp-Name": "x"},
			`{"jsonrpc":"2.0","id":4,"method":"tasks/get","params":{"taskId":"x","_meta":{` + metaJSON + `}}}`,
		},
		"discover": {
			Message{Version: Modern, ID: 5, Method: "server/discover"},
			map[string]string{"Mcp-Method": "server/discover", "Mcp-Name": ""},
			`{"jsonrpc":"2.0","id":5,"method":"server/discover","params":{"_meta":{` + metaJSON + `}}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := Endpoint{URL: "http://a/mcp", Name: "test", Header: http.Header{"X-Own": {"1"}}}
			request, err := e.Post(t.Context(), c.message)
			if err != nil {
				t.Fatal(err)
			}
			for header, want := range c.headers {
				if got := request.Header.Get(header); got != want {
					t.Errorf("%s: got %q, want %q", header, got, want)
				}
			}
			if request.Header.Get("X-Own") != "1" {
				t.Error("the endpoint's own header is missing")
			}
			body, err := io.ReadAll(request.Body)
			if err != nil || !sameJSON(t, body, []byte(c.body)) {
				t.Errorf("got %s, %v, want %s", body, err, c.body)
			}
		})
	}
}

// metaJSON is what each modern message says of itself.
const metaJSON = `"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1.0.0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var left, right any
	if err := json.Unmarshal(a, &left); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if err := json.Unmarshal(b, &right); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return reflect.DeepEqual(left, right)
}

// One call's parameters are not another's: the caller's map stays as it was.
func TestParametersAreNotWrittenOver(t *testing.T) {
	params := map[string]any{"taskId": "x"}
	e := Endpoint{URL: "http://a/mcp", Name: "test"}
	if _, err := e.Post(t.Context(), Message{Version: Modern, ID: 1, Method: "tasks/get", Params: params}); err != nil {
		t.Fatal(err)
	}
	if len(params) != 1 {
		t.Errorf("got %v, want it unchanged", params)
	}
}
