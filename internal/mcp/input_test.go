package mcp

import "testing"

func TestAsInput(t *testing.T) {
	for request, want := range map[string]string{
		`{"jsonrpc":"2.0", "id":0,"method":"elicitation/create","params":{ "message":"\u00e9"}}`: `{"method":"elicitation/create","params":{ "message":"\u00e9"}}`,
		`{"params":{},"id":"a","method":"x\/y","jsonrpc":"2.0"}`:                                 `{"method":"x\/y","params":{}}`,
		`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`:                                         `{"method":"roots/list"}`,
	} {
		if got := string(AsInput([]byte(request))); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}
