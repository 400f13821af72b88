package proxy_test

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// watchWrites tells of each write to a client before it happens.
func watchWrites(before func(p []byte)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&watchedWriter{w, before}, r)
		})
	}
}

type watchedWriter struct {
	http.ResponseWriter
	before func(p []byte)
}

func (w *watchedWriter) Write(p []byte) (int, error) {
	w.before(p)
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *watchedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

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
