package upstream

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answered has an instance answer one request, and reads the answer as a client does.
func answered(t *testing.T, i *Instance, raw string) (http.Header, map[string]any) {
	t.Helper()
	var r request
	if err := r.read(bufio.NewReader(strings.NewReader(raw))); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(string(i.answer(&r)))), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var message map[string]any
	if len(body) > 0 {
		if err := json.Unmarshal(body, &message); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
	}
	return response.Header, message
}

func instance() *Instance { return &Instance{Name: "a", fleet: new(Fleet)} }

func posted(head, body string) string {
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
}

func TestAnswersBearTheIDOfTheirRequest(t *testing.T) {
	for _, head := range []string{
		"Mcp-Method: tools/call\r\nmcp-name: echo\r\n", "Mcp-Method: tools/call\r\nMcp-Name: make\r\n",
		"Mcp-Method: tools/list\r\n", "Mcp-Method: tasks/get\r\nMcp-Name: a-1\r\n", "",
	} {
		_, got := answered(t, instance(), posted(head, `{"jsonrpc":"2.0","id":7,"method":"any","params":{}}`))
		if got["id"] != 7.0 || got["result"] == nil {
			t.Errorf("%q: got %v, want a result to 7", head, got)
		}
	}
}

func TestNotificationsAreNotAnswered(t *testing.T) {
	if _, got := answered(t, instance(), posted("", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
}

func TestInitializeOpensASession(t *testing.T) {
	i := instance()
	header, _ := answered(t, i, posted("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`))
	if id := header.Get("Mcp-Session-Id"); !i.owns(id) {
		t.Errorf("got session %q, want one of a's", id)
	}
}

func TestPollsOfOthersTasksAreMisrouted(t *testing.T) {
	i := instance()
	i.fleet.Instances = []*Instance{i}
	_, made := answered(t, i, posted("Mcp-Method: tools/call\r\nMcp-Name: make\r\n", `{"jsonrpc":"2.0","id":1}`))
	own := made["result"].(map[string]any)["taskId"].(string)
	for _, id := range []string{own, "b-1", "ab-1"} {
		answered(t, i, posted("Mcp-Method: tasks/get\r\nMcp-Name: "+id+"\r\n", `{"jsonrpc":"2.0","id":1}`))
	}
	if all, misrouted := i.fleet.Polls(); all != 3 || misrouted != 2 {
		t.Errorf("got %d polls, %d misrouted, want 3, 2", all, misrouted)
	}
}

func TestRequestsThatCannotBeReadAreErrors(t *testing.T) {
	for _, raw := range []string{
		"", "POST /mcp HTTP/1.1\r\n", "POST /mcp HTTP/1.1\r\nContent-Length: x\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", posted("", "{}")[:42],
	} {
		if err := new(request).read(bufio.NewReader(strings.NewReader(raw))); err == nil {
			t.Errorf("%q: got no error", raw)
		}
	}
}

// Clients count what they hear: whole events, then the response.
func TestTalkSendsItsEventsAndTheResult(t *testing.T) {
	var sent strings.Builder
	if err := sendEvents(&sent, []byte("1")); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(sent.String())), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	events := strings.Split(strings.TrimSuffix(string(body), "\n\n"), "\n\n")
	if len(events) != TalkEvents+1 || !strings.Contains(events[TalkEvents], `"result":`) {
		t.Errorf("got %d events, the last %q", len(events), events[len(events)-1])
	}
}
