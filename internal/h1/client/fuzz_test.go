package client

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"berth/internal/exchange"
	"berth/internal/wire"
)

// told is a connection on which the other end says text, and hangs up.
type told struct {
	net.Conn
	text *strings.Reader
}

func (c told) Read(p []byte) (int, error)  { return c.text.Read(p) }
func (c told) Write(p []byte) (int, error) { return len(p), nil }

// What is taken here, net/http takes, and with the same meaning.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		two, two + two, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\n{}\r\n0\r\nA: b\r\n\r\nx",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nrest", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 304 X\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 \r\ncontent-length:5\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nContent_Length: 3\r\nContent-Length: +2\r\n\r\n{}", "HTTP/1.1 101 X\r\n\r\n",
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, head bool) {
		c := New(Options{Dial: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			_ = far.Close()
			return told{near, strings.NewReader(text)}, nil
		}})
		method := map[bool]string{false: "POST", true: "HEAD"}[head]
		got, err := c.Send(context.Background(), &exchange.Request{Method: method, URL: &url.URL{Scheme: "http", Host: "a"}, Header: new(wire.Header)}, 0)
		if err != nil {
			return
		}
		header := got.Header.Clone()
		body, failed := io.ReadAll(got.Body)
		_ = got.Body.Close()
		want, oracle := ofNetHTTP(t, text, method)
		all, broken := io.ReadAll(want.Body)
		delete(want.Header, "Cache-Control") // net/http makes one up of Pragma
		header.Del("Cache-Control")
		if got.Status != want.StatusCode || got.ContentLength != want.ContentLength || got.ProtoMinor != want.ProtoMinor || !reflect.DeepEqual(header.Lists(), map[string][]string(want.Header)) {
			t.Fatalf("%q: got %+v %v, net/http %+v", text, got, header, want)
		}
		switch {
		case failed == nil && (broken != nil || string(body) != string(all)):
			t.Fatalf("%q: got %q, net/http %q, %v", text, body, all, broken)
		case !strings.HasPrefix(string(all), string(body)):
			t.Fatalf("%q: got %q %v, net/http %q", text, body, failed, all)
		}
		if kept := c.age(); kept > 0 && (want.Close || broken != nil || oracle.Buffered() > 0) {
			t.Fatalf("%q: the connection is kept", text)
		}
	})
}

// ofNetHTTP is the answer in text as net/http reads it.
func ofNetHTTP(t *testing.T, text, method string) (*http.Response, *bufio.Reader) {
	t.Helper()
	in := bufio.NewReader(strings.NewReader(text))
	for {
		response, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%q: net/http refuses it: %v", text, err)
		}
		if response.StatusCode >= 200 {
			return response, in
		}
	}
}
