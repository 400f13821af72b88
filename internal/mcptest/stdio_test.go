package mcptest_test

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"berth/internal/mcptest"
)

// A conversation with a server by stdio, line by line.
func TestStdioServerAsksInMidCall(t *testing.T) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- (&mcptest.StdioServer{Name: "s"}).Serve(in, out) }()
	lines := bufio.NewScanner(fromServer)
	for _, step := range []struct{ say, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`, `"protocolVersion":"2025-11-25"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"name":"greet"`},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"greet"}}`, `"id":"greet-1","method":"elicitation/create"`},
		{`{"jsonrpc":"2.0","id":"greet-1","result":{"action":"accept","content":{"name":"Ada"}}}`, `"text":"Hello, Ada!"`},
		{`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"greet"}}`, `"id":"greet-2"`},
		{`{"jsonrpc":"2.0","id":"greet-2","result":{"action":"decline"}}`, `"runs":2`},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"sleep","arguments":{"label":"job"}}}`, `"label":"job"`},
		{`{"jsonrpc":"2.0","id":6,"method":"server/discover"}`, `-32601`},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"greet"}}`, `"id":"greet-3"`},
	} {
		if _, err := io.WriteString(toServer, step.say+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !strings.Contains(lines.Text(), step.want) {
			t.Fatalf("after %s: got %q, want %q in it", step.say, lines.Text(), step.want)
		}
	}
	// What waits for its client ends with it.
	toServer.Close()
	if !lines.Scan() || !strings.Contains(lines.Text(), `"error"`) {
		t.Errorf("at the end: got %q, want an error", lines.Text())
	}
	if err := <-ended; err != nil {
		t.Errorf("got %v, want none", err)
	}
}
