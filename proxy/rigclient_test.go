package proxy_test

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"berth/internal/h1/server"
	"berth/internal/wire"
)

// watchWrites tells of each write to a client before it happens.
func watchWrites(before func(p []byte)) func(server.Handler) server.Handler {
	return func(next server.Handler) server.Handler {
		return handlerFunc(func(w wire.Client, r *wire.Request) bool {
			return next.Serve(&watchedWriter{w, before}, r)
		})
	}
}

// handlerFunc is a function that serves requests.
type handlerFunc func(w wire.Client, r *wire.Request) bool

func (f handlerFunc) Serve(w wire.Client, r *wire.Request) bool { return f(w, r) }

type watchedWriter struct {
	wire.Client
	before func(p []byte)
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	w.before(p)
	return w.Client.Write(p)
}

// eventLines reads an event stream line by line.
type eventLines struct {
	t *testing.T
	r *bufio.Reader
}

func newEventLines(t *testing.T, resp *http.Response) *eventLines {
	return &eventLines{t, bufio.NewReader(resp.Body)}
}

// event returns the next event, or comment, without its empty line.
func (l *eventLines) event() string {
	l.t.Helper()
	var event bytes.Buffer
	for {
		line, err := l.r.ReadString('\n')
		if err != nil {
			l.t.Fatalf("after %q: %v", event.String(), err)
		}
		if line == "\n" {
			return strings.TrimSuffix(event.String(), "\n")
		}
		event.WriteString(line)
	}
}
