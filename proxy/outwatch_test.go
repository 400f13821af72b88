package proxy_test

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// outWatch tells of each write to a client before it happens.
func outWatch(before func(p []byte)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&outWriter{w, before}, r)
		})
	}
}

type outWriter struct {
	http.ResponseWriter
	before func(p []byte)
}

func (w *outWriter) Write(p []byte) (int, error) {
	w.before(p)
	return w.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (w *outWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// outLines reads an event stream line by line.
type outLines struct {
	t *testing.T
	r *bufio.Reader
}

func newOutLines(t *testing.T, resp *http.Response) *outLines {
	return &outLines{t, bufio.NewReader(resp.Body)}
}

// event returns the next event, or comment, without its empty line.
func (l *outLines) event() string {
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
