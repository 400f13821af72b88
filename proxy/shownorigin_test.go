package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy"
	"berth/routing/profile"
)

// oldServer is a server of 2025-11-25 whose tools do what their names say. It lets another page read all of it.
func oldServer(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "https://other.example")
	h.Set("Access-Control-Expose-Headers", "X-Other")
	h.Set("Vary", "X-Other")
	h.Set("Content-Type", jsonType)
	const event = "data: {\"jsonrpc\":\"2.0\",%s}\n\n"
	switch strings.TrimSpace(m.Method + " " + m.Params.Name) {
	case "initialize":
		h.Set("Mcp-Session-Id", "s")
		_, _ = io.WriteString(w, response(body, `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`))
	case "notifications/initialized":
		w.WriteHeader(http.StatusAccepted)
	case "tools/list":
		_, _ = io.WriteString(w, response(body, `"result":{"tools":[]}`))
	case "tools/call answers":
		_, _ = io.WriteString(w, response(body, `"result":{"content":[]}`))
	case "tools/call refuses":
		_, _ = io.WriteString(w, response(body, `"error":{"code":-32602,"message":"no"}`))
	case "tools/call streams":
		h.Set("Content-Type", eventsType)
		_, _ = fmt.Fprintf(w, event+event, `"method":"notifications/progress","params":{"progressToken":`+string(m.ID)+`,"progress":1}`, `"id":`+string(m.ID)+`,"result":{"content":[]}`)
	case "tools/call asks":
		h.Set("Content-Type", eventsType)
		_, _ = fmt.Fprintf(w, event, `"id":7,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case "tools/call locks out":
		h.Set("Www-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// asOldServer answers in an instance's place as oldServer does.
func asOldServer(w http.ResponseWriter, r *http.Request, body []byte) bool {
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	oldServer(w, r)
	return true
}

// startBridged starts a berth that shows oldServer as a modern one, to the listed page.
func startBridged(t *testing.T) *berth {
	return start(t, setup{handler: http.HandlerFunc(oldServer), endpoint: func(ep *proxy.Endpoint) {
		for _, u := range ep.Router.Pool.Upstreams() {
			u.Era = profile.SpokenLegacy
		}
		ep.Origins = []string{listedPage}
		bridgeAt(t, ep)
	}})
}

// A bridged answer is berth's own: what the server says of its readers is about another message.
func TestPageMayReadABridgedAnswer(t *testing.T) {
	b := startBridged(t)
	page := []string{"Origin", listedPage}
	call := func(tool string, header ...string) reply {
		return b.post(message("tools/call", `"name":"`+tool+`","arguments":{},"_meta":{`+metaVersion+`,"progressToken":"p","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`),
			append(modernHeader("tools/call", tool), header...)...)
	}
	for name, c := range map[string]struct {
		reply  reply
		status int
		says   string
	}{
		"JSON":                {call("answers", page...), 200, `"complete"`},
		"events":              {call("streams", page...), 200, "notifications/progress"},
		"a question":          {call("asks", page...), 200, `"input_required"`},
		"an error":            {call("refuses", page...), 200, "-32602"},
		"a refusal":           {call("locks out", page...), 401, "bad_upstream_response"},
		"a contradiction":     {b.post(modernMessage("tools/call", `"name":"answers"`), append(page, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call")...), 400, "-32020"},
		"no such method":      {b.modern("prompts/list", "", "", page...), 404, "-32601"},
		"what the server has": {b.modern("server/discover", "", "", page...), 200, `"capabilities"`},
		"a list":              {b.modern("tools/list", "", "", page...), 200, `"tools"`},
	} {
		if r := c.reply; r.status != c.status || !strings.Contains(r.body, c.says) || r.rule() != listedRule {
			t.Errorf("%s: got %v\n%s\nwant %d, %s\n%s", name, r, r.rule(), c.status, c.says, listedRule)
		}
	}
	if r := call("answers"); r.status != 200 || r.rule() != "" {
		t.Errorf("no page: got %v\n%s", r, r.rule())
	}
	if r := call("answers", "Origin", "https://evil.example"); r.status != 403 || r.rule() != "" {
		t.Errorf("a page that is not let in: got %v\n%s", r, r.rule())
	}
	if r := b.legacy("", "tools/list", "", page...); !strings.Contains(r.rule(), "https://other.example") {
		t.Errorf("a routed answer: got %v\n%s", r, r.rule())
	}
}

// A server that lets its own pages alone send what clients send does not keep another from what is bridged.
func TestPageMaySendWhatIsBridged(t *testing.T) {
	b := startBridged(t)
	for wish, want := range map[string]string{
		"content-type, mcp-method, mcp-name": listedPage,
		"content-type, mcp-session-id":       "https://other.example",
	} {
		r := b.send("OPTIONS", "/mcp", "", "Origin", listedPage, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", wish)
		if r.header.Get("Access-Control-Allow-Origin") != want || (r.header.Get("Access-Control-Allow-Headers") == wish) != (want == listedPage) {
			t.Errorf("%s: got %v\n%s", wish, r, r.rule())
		}
	}
}

// noHTTP stands for a server that speaks no HTTP, and that berth shows.
type noHTTP struct{ exchange.Sender }

func (noHTTP) Send(_ context.Context, r *exchange.Request, _ time.Duration) (*wire.Response, error) {
	switch body := string(r.Body); {
	case strings.Contains(body, "tasks/list"):
		return wire.Whole(200, mcp.Response(mcp.ID(r.Body), []byte(`{"tasks":[]}`))), nil
	case strings.Contains(body, "tools/list"):
		return wire.Whole(200, mcp.Response(mcp.ID(r.Body), []byte(`{"tools":[]}`))), nil
	}
	return wire.Streamed(io.NopCloser(strings.NewReader("data: " + response(r.Body, `"result":{}`) + "\n\n"))), nil
}

// A server that speaks no HTTP cannot say who reads its answers.
func TestPageMayReadAnswersOfServersWithoutHTTP(t *testing.T) {
	b := start(t, setup{endpoint: func(ep *proxy.Endpoint) {
		ep.Origins = []string{listedPage}
		ep.Client = noHTTP{ep.Client}
	}})
	for method, want := range map[string]string{"tools/list": "tools", "tasks/list": "tasks", "ping": "data: "} {
		if r := b.legacy("", method, "", "Origin", listedPage); r.status != 200 || !strings.Contains(r.body, want) || r.rule() != listedRule {
			t.Errorf("%s: got %v\n%s\nwant\n%s", method, r, r.rule(), listedRule)
		}
	}
}
