package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/internal/memnet"
)

// serve runs h in memory under a name and returns its listener.
func serve(t *testing.T, name string, h http.Handler) *memnet.Listener {
	t.Helper()
	l := memnet.Listen(name)
	server := &http.Server{Handler: h}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return l
}

func transportTo(t *testing.T, listeners ...*memnet.Listener) *http.Transport {
	t.Helper()
	transport := &http.Transport{DialContext: memnet.Dialer(listeners...)}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// eachDialect runs a test for every kind of client and form of answer, in fake
// time.
func eachDialect(t *testing.T, test func(t *testing.T, kind Kind, sse bool)) {
	for _, kind := range kinds {
		for _, sse := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/sse=%v", kind, sse), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { test(t, kind, sse) })
			})
		}
	}
}

func TestDirectCallsComeBackRight(t *testing.T) {
	eachDialect(t, func(t *testing.T, kind Kind, sse bool) {
		s := &mcptest.Server{Name: "a", SSE: sse, SessionOptional: true}
		c := Client{
			URL:  "http://a/mcp",
			HTTP: &http.Client{Transport: transportTo(t, serve(t, "a", s))},
			Kind: kind,
		}
		out := c.Call(t.Context(), "slow_compute", "job", 950*time.Millisecond)
		if out.Err != nil || out.Owner != "a" || out.Lost != 0 {
			t.Fatalf("got %+v, want a right result of a, nothing lost", out)
		}
		want := 10 // polls at 0.1 … 1.0 s
		if kind != Modern {
			want++ // tasks/result
		}
		if served := s.Calls("tasks/get") + s.Calls("tasks/result"); out.Polls != want || served != want {
			t.Errorf("client sent %d polls, server saw %d, want %d", out.Polls, served, want)
		}
		if s.Executions() != 1 {
			t.Errorf("got %d executions, want 1", s.Executions())
		}
	})
}

// What shows that no loss through berth means something: the same client does
// see one.
func TestRoundRobinLosesTasks(t *testing.T) {
	eachDialect(t, func(t *testing.T, kind Kind, sse bool) {
		var servers []*mcptest.Server
		var listeners []*memnet.Listener
		var urls []*url.URL
		for _, name := range upstreamNames {
			s := &mcptest.Server{Name: name, SSE: sse, SessionOptional: true}
			servers = append(servers, s)
			listeners = append(listeners, serve(t, name, s))
			urls = append(urls, &url.URL{Scheme: "http", Host: name, Path: endpointPath})
		}
		front := serve(t, "front", NewRoundRobin(transportTo(t, listeners...), urls...))
		c := Client{URL: "http://front/mcp", HTTP: &http.Client{Transport: transportTo(t, front)}, Kind: kind}
		out := c.Call(t.Context(), "slow_compute", "job", time.Second)

		denied := 0
		for _, s := range servers {
			denied += s.Denied("tasks/get") + s.Denied("tasks/result")
		}
		if out.Lost != denied {
			t.Errorf("client lost %d polls, servers denied %d", out.Lost, denied)
		}
		want := ErrTaskLost
		if kind == LegacySession {
			want = ErrSessionLost // by the second message already
		}
		if !errors.Is(out.Err, want) {
			t.Errorf("got %v, want %v", out.Err, want)
		}
	})
}

func TestPollAnsweredWithErrorIsLost(t *testing.T) {
	answers := map[string]func(http.ResponseWriter){
		"status":       func(w http.ResponseWriter) { http.Error(w, "no", http.StatusServiceUnavailable) },
		"error":        func(w http.ResponseWriter) { writeBody(w, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602}}`) },
		"not JSON":     func(w http.ResponseWriter) { writeBody(w, `<html>`) },
		"other task":   func(w http.ResponseWriter) { writeBody(w, `{"jsonrpc":"2.0","id":2,"result":{"taskId":"x"}}`) },
		"empty stream": func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/event-stream") },
	}
	for name, write := range answers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := computeWith(t, "tasks/get", write)
				if !errors.Is(out.Err, ErrTaskLost) || out.Lost != 1 || out.Polls != 1 {
					t.Errorf("got %+v, want one poll, lost", out)
				}
			})
		})
	}
}

func TestForeignResultIsNotRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := computeWith(t, "tasks/result", func(w http.ResponseWriter) {
			writeBody(w, `{"jsonrpc":"2.0","id":3,"result":{"structuredContent":{"instance":"a","label":"another"}}}`)
		})
		if !errors.Is(out.Err, ErrWrongResult) {
			t.Errorf("got %v, want %v", out.Err, ErrWrongResult)
		}
	})
}

func TestAnswerToAnotherRequestIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := computeWith(t, "tasks/result", func(w http.ResponseWriter) {
			writeBody(w, `{"jsonrpc":"2.0","id":2,"result":{"structuredContent":{"instance":"a","label":"job"}}}`)
		})
		if !errors.Is(out.Err, ErrTaskLost) || out.Lost != 1 {
			t.Errorf("got %+v, want the poll lost: it had the id 3", out)
		}
	})
}

// computeWith runs one core tool call of which a single method is answered by
// write.
func computeWith(t *testing.T, method string, write func(http.ResponseWriter)) Outcome {
	t.Helper()
	s := &mcptest.Server{Name: "a", Stateless: true}
	s.Intercept = func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
		if !strings.Contains(string(body), method) {
			return false
		}
		write(w)
		return true
	}
	c := Client{
		URL:  "http://a/mcp",
		HTTP: &http.Client{Transport: transportTo(t, serve(t, "a", s))},
		Kind: LegacySessionless,
	}
	return c.Call(t.Context(), "slow_compute", "job", 50*time.Millisecond)
}

func writeBody(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, body)
}

func TestClientStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a"}
		c := Client{URL: "http://a/mcp", HTTP: &http.Client{Transport: transportTo(t, serve(t, "a", s))}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if out := c.Call(ctx, "slow_compute", "job", time.Minute); !errors.Is(out.Err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", out.Err, context.DeadlineExceeded)
		}
	})
}
