package stdio

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
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
	s.breaker.backoff = timing.backoff
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

func (r *rig) request(method, session, caller, body string) *exchange.Request {
	header := new(wire.Header)
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

// open opens a session of a client that may be asked nothing.
func (r *rig) open(caller string) *client {
	r.t.Helper()
	return r.openAs(caller, opening)
}

// openAs opens a session by this initialize.
func (r *rig) openAs(caller, opening string) *client {
	r.t.Helper()
	response := r.reach(r.request(wire.MethodPost, "", caller, opening))
	body := exchangetest.ReadAll(r.t, response)
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
