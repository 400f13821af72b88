package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// patience bounds every wait for something that happens beside the test.
const patience = 10 * time.Second

// A reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   string
}

type replyBody struct {
	ID    json.RawMessage
	Error struct {
		Code    int
		Message string
		Data    struct {
			Reason       string
			Retryable    bool
			RetryAfterMs int
		}
	}
	Result struct {
		TaskID string
		Task   struct{ TaskID string }
	}
}

func (r reply) parsed() (p replyBody) {
	_ = json.Unmarshal([]byte(r.body), &p) // what is no JSON has the zero value
	return p
}

func (r reply) code() int { return r.parsed().Error.Code }

func (r reply) String() string { return fmt.Sprintf("%d %s", r.status, r.body) }

// send makes a request at path. Headers are pairs, "name", "value", …; a "Host"
// is the request's.
func (b *berth) send(method, path, body string, header ...string) reply {
	b.t.Helper()
	return fetch(b.t, method, "http://"+b.address+path, body, header...)
}

func fetch(t testing.TB, method, url, body string, header ...string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header[header[i]] = append(r.Header[header[i]], header[i+1])
	}
	response, err := plain.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: reading the answer: %v", method, url, err)
	}
	return reply{response.StatusCode, response.Header, string(read)}
}

// plain adds nothing to a request and takes nothing from an answer.
var plain = &http.Transport{DisableCompression: true, DisableKeepAlives: true}

func (b *berth) post(body string, header ...string) reply {
	b.t.Helper()
	return b.send(http.MethodPost, "/mcp", body, header...)
}

const (
	metaVersion = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	// tasksMeta is the metadata of a modern client that takes tasks.
	tasksMeta = `"_meta":{` + metaVersion + `,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	slowTool  = `"name":"slow_compute","arguments":{"seconds":60,"label":"x"}`
)

// message is a request of id 1; params are the members, without braces.
func message(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
}

func modernMessage(method, params string) string {
	if params != "" {
		params += ","
	}
	return message(method, params+tasksMeta)
}

func modernHeader(method, name string) []string {
	header := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	if name != "" {
		header = append(header, "Mcp-Name", name)
	}
	return header
}

// modern makes a well-formed modern call that declares the extension.
func (b *berth) modern(method, name, params string, header ...string) reply {
	b.t.Helper()
	return b.post(modernMessage(method, params), append(modernHeader(method, name), header...)...)
}

// legacy makes a 2025-11-25 call, in a session unless that is empty.
func (b *berth) legacy(session, method, params string, header ...string) reply {
	b.t.Helper()
	header = append([]string{"Mcp-Protocol-Version", "2025-11-25"}, header...)
	if session != "" {
		header = append(header, "Mcp-Session-Id", session)
	}
	return b.post(message(method, params), header...)
}

// open initialises a session of that version and returns its id.
func (b *berth) open(version string, header ...string) string {
	b.t.Helper()
	r := b.post(message("initialize", fmt.Sprintf(`"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}`, version)), header...)
	id := r.header.Get("Mcp-Session-Id")
	if id == "" {
		b.t.Fatalf("no session: %v", r)
	}
	return id
}

// makeTask makes a modern task that works for a minute, and returns its id.
func (b *berth) makeTask(header ...string) string {
	b.t.Helper()
	r := b.modern("tools/call", "slow_compute", slowTool, header...)
	id := r.parsed().Result.TaskID
	if id == "" {
		b.t.Fatalf("no task: %v", r)
	}
	return id
}

func byID(id string) string { return fmt.Sprintf(`"taskId":%q`, id) }

// dial opens a connection to berth for bytes that no client library would send.
func (b *berth) dial() net.Conn {
	b.t.Helper()
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(b.t.Context(), "tcp", b.address)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	b.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// raw sends bytes on a connection of their own and returns the first answer.
func (b *berth) raw(request string) reply {
	b.t.Helper()
	conn := b.dial()
	go func() { _, _ = io.WriteString(conn, request) }() // may be cut off by the answer
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		b.t.Fatalf("no answer to %.80q: %v", request, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(body)}
}

// stand opens a standing stream and returns its answer's header; the stream ends with
// the returned function.
func (b *berth) stand(header ...string) (*http.Response, func()) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	b.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.address+"/mcp", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := plain.RoundTrip(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { response.Body.Close() })
	return response, cancel
}

// firstEvent opens a standing stream, returns its first event and leaves.
func (b *berth) firstEvent(header ...string) string {
	b.t.Helper()
	response, leave := b.stand(header...)
	defer leave()
	var event strings.Builder
	for reader := bufio.NewReader(response.Body); !strings.HasSuffix(event.String(), "\n\n"); {
		line, err := reader.ReadString('\n')
		if err != nil {
			b.t.Fatalf("stream ended: %d, %v", response.StatusCode, err)
		}
		event.WriteString(line)
	}
	return event.String()
}
