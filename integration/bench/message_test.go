//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"berth/integration/bench/upstream"
)

// A client that says two things costs its proxy less than one that is served: it is refused.
func TestMessagesSayTheSameInHeaderAndBody(t *testing.T) {
	for method, message := range map[string][]byte{
		"tools/call": callTool(upstream.Echo), "tasks/get": pollTask("a-1"), "tools/list": listTools(), "initialize": initialize(),
	} {
		request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(message)))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			t.Fatal(err)
		}
		var call struct {
			Method string
			Params struct{ Name, TaskID string }
		}
		if err := json.Unmarshal(body, &call); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if call.Method != method {
			t.Errorf("got %s, want %s", call.Method, method)
		}
		if said := request.Header.Get("Mcp-Method"); said != method && method != "initialize" {
			t.Errorf("%s: the header says %q", method, said)
		}
		if said := request.Header.Get("Mcp-Name"); said != call.Params.Name+call.Params.TaskID {
			t.Errorf("%s: the header says %q, the body %v", method, said, call.Params)
		}
	}
}
