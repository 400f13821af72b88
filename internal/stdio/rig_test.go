package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// patient bounds what a test waits for; nothing is asserted on how long it takes.
const patient = 20 * time.Second

// rig is a server of the fixture, and what it logs.
type rig struct {
	*Server
	t   *testing.T
	log *logged
}

type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newRig returns a server that runs the fixture in this mode. It and its processes end with the
// test.
func newRig(t *testing.T, mode string, change ...func(o *Options, t *timing)) *rig {
	t.Helper()
	log := &logged{}
	options := Options{
		Name: "files", Command: []string{os.Args[0]}, Env: map[string]string{modeVariable: mode, "GORACE": "atexit_sleep_ms=0"},
		Grace: 100 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil)),
	}
	timing := defaultTiming(time.Hour)
	timing.ask = 500 * time.Millisecond
	for _, f := range change {
		f(&options, &timing)
	}
	s := New(options)
	s.timing = timing
	s.breaker.backoff, s.breaker.trial = timing.backoff, timing.trial
	r := &rig{Server: s, t: t, log: log}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.peers) > 0 || len(s.sessions) > 0 {
			t.Errorf("after the shutdown: %d processes, %d sessions", len(s.peers), len(s.sessions))
		}
		if t.Failed() {
			t.Log(log)
		}
	})
	return r
}

// client is one session's.
type client struct {
	*rig
	session string
	caller  string
}

func (r *rig) request(method, session, caller, body string) *exchange.Request {
	header := wire.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		header.Set(mcp.HeaderSession, session)
		header.Set(mcp.HeaderVersion, "2025-11-25")
	}
	return &exchange.Request{Method: method, Header: header, Body: []byte(body), Caller: caller}
}

const opening = `{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

// reach sends a request that must be answered.
func (r *rig) reach(request *exchange.Request) *wire.Response {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	r.t.Cleanup(cancel)
	response, err := r.Send(ctx, request, 0)
	if err != nil {
		r.t.Fatalf("%s: %v", request.Method, err)
	}
	r.t.Cleanup(func() { response.Body.Close() })
	return response
}

// open opens a session.
func (r *rig) open(caller string) *client {
	r.t.Helper()
	response := r.reach(r.request(wire.MethodPost, "", caller, opening))
	body := whole(r.t, response)
	if response.Status != 200 || !strings.Contains(body, `"id":"first"`) || !strings.Contains(body, `"protocolVersion"`) {
		r.t.Fatalf("initialize: %d %s", response.Status, body)
	}
	c := &client{rig: r, session: response.Header.Get(mcp.HeaderSession), caller: caller}
	if c.session == "" {
		r.t.Fatal("initialize: no session")
	}
	c.tell(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *client) post(body string) *wire.Response {
	c.t.Helper()
	return c.reach(c.request(wire.MethodPost, c.session, c.caller, body))
}

// tell sends what is not answered.
func (c *client) tell(body string) {
	c.t.Helper()
	if response := c.post(body); response.Status != wire.StatusAccepted {
		c.t.Fatalf("%s: %d %s", body, response.Status, whole(c.t, response))
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
		c.t.Fatalf("got %d %s, want a stream", response.Status, whole(c.t, response))
	}
	return &events{t: c.t, body: response.Body, reader: mcp.NewLongEventReader(response.Body, 8<<20)}
}

// events are those of one stream, as a client reads them.
type events struct {
	t      *testing.T
	body   io.Closer
	reader *mcp.EventReader
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

func whole(t *testing.T, response *wire.Response) string {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("body: %v", err)
	}
	return string(body)
}

// eventually waits for what must come to be.
func (r *rig) eventually(what string, is func() bool) {
	r.t.Helper()
	for end := time.Now().Add(patient); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("never: %s", what)
		}
	}
}

// processes is how many run.
func (r *rig) processes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.peers)
}

func idOf(t *testing.T, message string) string {
	t.Helper()
	id := mcp.ID([]byte(message))
	if id == nil {
		t.Fatalf("got %s, want a request", message)
	}
	return string(id)
}
