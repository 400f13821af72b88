package integration

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// toolCounter stands before an untouched server that keeps no count of its own and
// cannot be made to: it counts the calls of tools that reach it.
type toolCounter struct {
	next http.Handler

	mu     sync.Mutex // guards the fields below
	seen   map[string]bool
	counts stats
}

// counted puts a counter before each instance of a fleet.
func (f fleet) counted(t testing.TB) fleet {
	t.Helper()
	counted, _ := f.fronted(t, func(next http.Handler) http.Handler {
		return &toolCounter{seen: map[string]bool{}, next: next}
	})
	return counted
}

// fronted puts a reverse proxy before each instance of a fleet, with a handler before that.
func (f fleet) fronted(t testing.TB, before func(next http.Handler) http.Handler) (fleet, []*httptest.Server) {
	t.Helper()
	var fronted fleet
	var fronts []*httptest.Server
	for _, i := range f {
		target, err := url.Parse(i.base)
		if err != nil {
			t.Fatal(err)
		}
		front := httptest.NewServer(before(&httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
				r.Out.Host = target.Host // go-sdk asks for its own name
			},
			FlushInterval: -1,
			ErrorLog:      log.New(t.Output(), "front: ", 0),
		}))
		t.Cleanup(func() {
			front.CloseClientConnections()
			front.Close()
		})
		fronts = append(fronts, front)
		fronted = append(fronted, &instance{process: i.process, base: front.URL})
	}
	return fronted, fronts
}

func (c *toolCounter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/__stats" {
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = json.NewEncoder(w).Encode(c.counts) // whoever asked sees that it is cut off
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if r.Method == http.MethodPost {
		c.note(body)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.next.ServeHTTP(w, r)
}

// note counts a POST, and the tool that it calls.
func (c *toolCounter) note(body []byte) {
	var message struct {
		Method string
		Params struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	called := json.Unmarshal(body, &message) == nil && message.Method == "tools/call"
	call := message.Params.Name + string(message.Params.Arguments)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Posts++
	if !called {
		return
	}
	c.counts.ToolCalls++
	if c.seen[call] {
		c.counts.Repeats++
	}
	c.seen[call] = true
}
