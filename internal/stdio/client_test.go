package stdio

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/internal/wire"
)

// client is one session's.
type client struct {
	*rig
	session string
	caller  string
}

func (c *client) post(body string) *wire.Response {
	c.t.Helper()
	return c.reach(c.request(wire.MethodPost, c.session, c.caller, body))
}

// tell sends what is not answered.
func (c *client) tell(body string) {
	c.t.Helper()
	if response := c.post(body); response.Status != wire.StatusAccepted {
		c.t.Fatalf("%s: %d %s", body, response.Status, exchangetest.ReadAll(c.t, response))
	}
}

func tool(id, name, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"text":%q}}}`, id, name, text)
}

// begin calls a tool and returns the stream of its answer.
func (c *client) begin(id, name, text string) *events {
	c.t.Helper()
	return c.stream(c.post(tool(id, name, text)))
}

// call calls a tool and returns the text that it answers.
func (c *client) call(name, text string) string {
	c.t.Helper()
	return c.begin("1", name, text).text()
}

// listen opens a stream by GET, after an event if one is named.
func (c *client) listen(last string) *events {
	c.t.Helper()
	return c.stream(c.get(last))
}

func (c *client) get(last string) *wire.Response {
	c.t.Helper()
	request := c.request(wire.MethodGet, c.session, c.caller, "")
	if last != "" {
		request.Header.Set(mcp.HeaderLastEvent, last)
	}
	return c.reach(request)
}

func (c *client) stream(response *wire.Response) *events {
	c.t.Helper()
	if response.Status != 200 || exchange.ShapeOf(response) != exchange.EventStream {
		c.t.Fatalf("got %d %s, want a stream", response.Status, exchangetest.ReadAll(c.t, response))
	}
	return &events{t: c.t, body: response.Body, reader: sse.NewReader(response.Body, 8<<20)}
}

// events are those of one stream, as a client reads them.
type events struct {
	t      *testing.T
	body   io.Closer
	reader *sse.Reader
	last   string // id of the last event
}

// next returns the next message; ok is false at the stream's end.
func (e *events) next() (message string, ok bool) {
	e.t.Helper()
	for {
		event, err := e.reader.Next()
		if errors.Is(err, io.EOF) {
			return "", false
		}
		if err != nil {
			e.t.Fatalf("stream: %v", err)
		}
		if e.last = event.ID(); e.last == "" || !event.Ends {
			e.t.Fatalf("got event %q, want one with an id", event.Raw)
		}
		if len(event.Data) > 0 {
			return string(event.Data), true
		}
	}
}

// message returns the next message, which must be there.
func (e *events) message() string {
	e.t.Helper()
	m, ok := e.next()
	if !ok {
		e.t.Fatal("the stream ended")
	}
	return m
}

// until returns the first message that holds part.
func (e *events) until(part string) string {
	e.t.Helper()
	for {
		if m := e.message(); strings.Contains(m, part) {
			return m
		}
	}
}

// text returns what the response says, with which the stream must end.
func (e *events) text() string {
	e.t.Helper()
	var m struct {
		Result *struct{ Content []struct{ Text string } }
		Error  *struct{ Message string }
	}
	for m.Result == nil && m.Error == nil {
		if err := json.Unmarshal([]byte(e.message()), &m); err != nil {
			e.t.Fatalf("message: %v", err)
		}
	}
	if more, ok := e.next(); ok {
		e.t.Errorf("after the response: %s", more)
	}
	if m.Error != nil {
		return "error: " + m.Error.Message
	}
	if len(m.Result.Content) == 0 {
		return ""
	}
	return m.Result.Content[0].Text
}

func (e *events) close() { e.body.Close() }
