package legacyface

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/internal/wire"
)

// rig is a face, and the server behind it. It is the Server.
type rig struct {
	t    *testing.T
	face *Face

	// What stands in for what a server does otherwise; nil: it does that.
	dial func() (*wire.Response, error)
	met  func(Listener)
	say  func(message string) (*wire.Response, error)
	mute bool // it does not answer initialize

	mu     sync.Mutex // guards the fields below
	conns  []*fakeConn
	pinged int
	closed bool
}

// fakeConn notes what is said.
type fakeConn struct {
	rig   *rig
	hears Listener

	mu     sync.Mutex // guards the fields below
	said   []string
	closed bool
}

func newRig(t *testing.T, o Options) *rig {
	r := &rig{t: t}
	r.face = New(r, o)
	t.Cleanup(r.face.Close)
	return r
}

func (r *rig) Dial(_ context.Context, _ *exchange.Request, _ time.Duration, hears Listener) (Conn, *wire.Response, error) {
	if r.dial != nil {
		if answer, err := r.dial(); answer != nil || err != nil {
			return nil, answer, err
		}
	}
	if r.met != nil {
		r.met(hears)
	}
	l := &fakeConn{rig: r, hears: hears}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, l)
	return l, nil, nil
}

func (r *rig) Ping(context.Context, *exchange.Request, time.Duration) (*wire.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pinged++
	return nil, nil
}

func (r *rig) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

func (l *fakeConn) Say(_ context.Context, _ *exchange.Request, message []byte, _ time.Duration) (*wire.Response, error) {
	if l.rig.say != nil {
		if answer, err := l.rig.say(string(message)); answer != nil || err != nil {
			return answer, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, string(message))
	if strings.Contains(string(message), `"initialize"`) && !l.rig.mute {
		go l.hears.Hear([]byte(`{"jsonrpc":"2.0","id":` + string(mcp.ID(message)) + `,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`))
	}
	return nil, nil
}

func (l *fakeConn) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

func (l *fakeConn) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// heard waits until all is quiet, and returns what the server was told since.
func (l *fakeConn) heard() []string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	said := l.said
	l.said = nil
	return said
}

// hear has the server say something.
func (l *fakeConn) hear(message string) { l.hears.Hear([]byte(message)) }

// idOf returns the id of the message that says word.
func idOf(t *testing.T, said []string, word string) string {
	t.Helper()
	for _, message := range said {
		if strings.Contains(message, word) {
			return string(mcp.ID([]byte(message)))
		}
	}
	t.Fatalf("nothing says %s: %q", word, said)
	return ""
}

// client sends requests, in a session if there is one.
type client struct {
	exchangetest.Client
	rig  *rig
	conn *fakeConn
}

const opens = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`

func (r *rig) client() *client {
	return &client{rig: r, Client: exchangetest.Client{T: r.t, To: r.face}}
}

// open opens a session.
func (r *rig) open() *client {
	r.t.Helper()
	c := r.client()
	response := c.post(opens)
	c.Session = response.Header.Get(mcp.HeaderSession)
	if response.Status != wire.StatusOK || c.Session == "" {
		r.t.Fatalf("initialize: got %d %s", response.Status, exchangetest.ReadAll(r.t, response))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c.conn = r.conns[len(r.conns)-1]
	c.conn.heard()
	return c
}

func (c *client) post(body string, header ...string) *wire.Response {
	c.rig.t.Helper()
	return c.Do(wire.MethodPost, body, header...)
}

func (c *client) get(header ...string) *wire.Response {
	c.rig.t.Helper()
	return c.Do(wire.MethodGet, "", header...)
}

// status sends a request whose answer is read and closed.
func (c *client) status(method, body string, header ...string) int {
	c.rig.t.Helper()
	response := c.Do(method, body, header...)
	exchangetest.ReadAll(c.rig.t, response)
	return response.Status
}

// events reads the stream of an answer.
type events struct {
	t      *testing.T
	body   io.Closer
	reader *sse.Reader
	id     string // of the last one
}

func eventsOf(t *testing.T, response *wire.Response) *events {
	t.Helper()
	if exchange.ShapeOf(response) != exchange.EventStream || response.Status != wire.StatusOK {
		t.Fatalf("got no stream, but %d %v", response.Status, response.Header)
	}
	return &events{t: t, body: response.Body, reader: sse.NewReader(response.Body, 8<<20)}
}

// next returns the data of the next event, and "EOF" at the end.
func (e *events) next() string {
	e.t.Helper()
	event, err := e.reader.Next()
	if err == io.EOF {
		return "EOF"
	}
	if err != nil {
		return err.Error()
	}
	e.id = event.ID()
	return string(event.Data)
}

// wants fails the test unless these come next.
func (e *events) wants(all ...string) {
	e.t.Helper()
	for _, want := range all {
		if got := e.next(); got != want {
			e.t.Fatalf("got %s, want %s", got, want)
		}
	}
}

// call is a request with an id; params may be "".
func request(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`
}

func result(id, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"text":"` + text + `"}}`
}

// failure reads a JSON-RPC error.
func failure(t *testing.T, message string) (code int, reason string) {
	t.Helper()
	var m struct {
		Error struct {
			Code int
			Data struct{ Reason string }
		}
	}
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatalf("%s: %v", message, err)
	}
	return m.Error.Code, m.Error.Data.Reason
}
