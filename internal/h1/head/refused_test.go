package head

import (
	"errors"
	"io"
	"strings"
	"testing"

	"berth/internal/wire"
)

// What two readers could frame in different ways is refused, at the first line that shows it: these heads lack the empty line at their end.
func TestHeadsThatAreRefused(t *testing.T) {
	const first = "POST / HTTP/1.1\r\nHost: a\r\n"
	for raw, want := range map[string]error{
		"":                                 io.EOF,
		"GET":                              io.ErrUnexpectedEOF,
		first:                              io.ErrUnexpectedEOF,
		first + "A: b":                     io.ErrUnexpectedEOF,
		"\r\n" + first:                     errRequestLine,
		"GET /\r\n":                        errRequestLine,
		"GET / x HTTP/1.1\r\n":             errRequestLine,
		"GET  / HTTP/1.1\r\n":              errRequestLine,
		" GET / HTTP/1.1\r\n":              errRequestLine,
		"GET / HTTP/1.1 \r\n":              errRequestLine,
		"GET\t/ HTTP/1.1\r\n":              errRequestLine,
		"GET /\x00 HTTP/1.1\r\n":           errRequestLine,
		"GET /\xa0 HTTP/1.1\r\n":           errRequestLine,
		"G(T / HTTP/1.1\r\n":               errRequestLine,
		"GET / HTTP/1.1\rHost: b\r\n":      errRequestLine,
		"GET / http/1.1\r\n":               errVersion,
		"GET / HTTP/1.2\r\n":               errVersion,
		"PRI * HTTP/2.0\r\n":               errVersion,
		"GET / HTTP/1.1\n":                 errBareLF,
		first + "A: b\n":                   errBareLF,
		first + "\n":                       errBareLF,
		first + "A: b\r\n c: d\r\n":        errField,
		first + "A: b\r\n\t\r\n":           errField,
		first + "A : b\r\n":                errField,
		first + ": b\r\n":                  errField,
		first + "A\r\n":                    errField,
		first + "A\xc3\x84: b\r\n":         errField,
		first + "A: b\x00c\r\n":            errControl,
		first + "A: b\rc\r\n":              errControl,
		first + "A: b\x7f\r\n":             errControl,
		first + "A: \x0bb\r\n":             errControl,
		first + "Content-Length: +5\r\n":   errLength,
		first + "Content-Length: -5\r\n":   errLength,
		first + "Content-Length: 5, 5\r\n": errLength,
		first + "Content-Length:\r\n":      errLength,
		first + "Content-Length: 0000000000000005\r\n":                             errLength,
		first + "Content-Length: 5\r\nContent-Length: 5\r\n":                       errLength,
		first + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n":              errTwoFramings,
		first + "Transfer-Encoding: chunked\r\ncontent-length: 5\r\n":              errTwoFramings,
		first + "Transfer-Encoding: gzip, chunked\r\n":                             errCoding,
		first + "Transfer-Encoding: chun\u212aed\r\n":                              errCoding,
		first + "Transfer-Encoding:\r\n":                                           errCoding,
		first + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n":     errCoding,
		"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n":                         errCoding,
		first + "Content_Length: 5\r\n":                                            errAlias,
		first + "transfer_encoding: chunked\r\n":                                   errAlias,
		first + "Host: a\r\n":                                                      errHost,
		"GET / HTTP/1.1\r\n\r\n":                                                   errHost,
		"GET / HTTP/1.1\r\nHost: a b\r\n\r\n":                                      errHost,
		"GET / HTTP/1.1\r\nHost: a/b\x80\r\n\r\n":                                  errHost,
		"GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n":                              errTarget,
		"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n":                                errTarget,
		"GET /x?y#z HTTP/1.1\r\nHost: a\r\n\r\n":                                   errTarget,
		"GET /x#z HTTP/1.1\r\nHost: a\r\n\r\n":                                     errTarget,
		"GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n":                                     errTarget,
		"GET x HTTP/1.1\r\nHost: a\r\n\r\n":                                        errTarget,
		"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n":                                     errTarget,
		"CONNECT * HTTP/1.1\r\nHost: a\r\n\r\n":                                    nil, // as net/http has it: a host of that name
		first + "Transfer-Encoding: chunked\r\nTrailer: x, content-length\r\n\r\n": errTrailer,
		first + strings.Repeat("A: b\r\n", 200):                                    ErrTooLong,
		"GET /" + strings.Repeat("x", 1100):                                        ErrTooLong,
	} {
		for _, step := range []int{len(raw) + 1, 1, 2, 7} {
			var p Parser
			if _, err := p.Request(said(t, raw, step), 1<<10, nil); !errors.Is(err, want) {
				t.Errorf("%q in pieces of %d: got %v, want %v", raw, step, err, want)
			}
		}
	}
}

// A head of just the limit is taken, and one byte more is not, wherever a piece ends.
func TestTheLimitIsTheHeads(t *testing.T) {
	raw := "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	for step := 1; step <= len(raw); step++ {
		var p Parser
		if _, err := p.Request(said(t, raw+raw, step), len(raw), nil); err != nil {
			t.Errorf("in pieces of %d: %v", step, err)
		}
		if _, err := p.Request(said(t, raw+raw, step), len(raw)-1, nil); err != ErrTooLong {
			t.Errorf("in pieces of %d: %v", step, err)
		}
	}
}

func TestATargetsAuthorityCountsMoreThanHost(t *testing.T) {
	for raw, want := range map[string]string{
		"GET /a?b HTTP/1.1\r\nHost: c\r\n\r\n":       "c||/a",
		"GET //a HTTP/1.1\r\nHost: c\r\n\r\n":        "c||//a",
		"GET http://b/x HTTP/1.1\r\nHost: a\r\n\r\n": "b|b|/x",
		"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n":      "a||*",
		"CONNECT b:1 HTTP/1.1\r\nHost: a\r\n\r\n":    "b:1|b:1|",
		"GET / HTTP/1.0\r\n\r\n":                     "||/",
		"GET / HTTP/1.1\r\nHost:\r\n\r\n":            "||/",
	} {
		var p Parser
		r, err := p.Request(said(t, raw, 100), 1<<10, nil)
		if err != nil {
			t.Errorf("%q: %v", raw, err)
			continue
		}
		if got := r.Host + "|" + r.URL.Host + "|" + r.URL.Path; got != want {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
	}
}

// What a request's reader does to its URL is not seen by the next.
func TestEachRequestHasItsURL(t *testing.T) {
	const raw = "GET /a HTTP/1.1\r\nHost: c\r\n\r\n"
	var p Parser
	src := said(t, raw+raw, 100)
	r, _ := p.Request(src, 1<<10, nil)
	r.URL.Path = "/b"
	if r, err := p.Request(src, 1<<10, nil); err != nil || r.URL.Path != "/a" {
		t.Errorf("got %v, %v", r.URL, err)
	}
}

// A head that was read stays as it was, whatever comes after it.
func TestStringsMayBeKept(t *testing.T) {
	var p Parser
	src := said(t, "GET /a HTTP/1.1\r\nHost: c\r\nX-Y: one\r\n\r\nGET /b HTTP/1.1\r\nHost: d\r\nX-Y: two\r\n\r\n", 1000)
	r, _ := p.Request(src, 1<<10, nil)
	target, value := r.Target, r.Header.Get("X-Y")
	if _, err := p.Request(src, 1<<10, nil); err != nil || target != "/a" || value != "one" {
		t.Errorf("got %q, %q, %v", target, value, err)
	}
}

// Names are spelt as wire spells them.
func TestNamesAreCanonical(t *testing.T) {
	for _, name := range []string{"x", "X-", "-x", "mcp_name", "MCP-PROTOCOL-VERSION", "a1b-c2D", "x--y", "!#$%&'*+-.^_`|~"} {
		var p Parser
		r, err := p.Request(said(t, "GET / HTTP/1.0\r\n"+name+": y\r\n\r\n", 100), 1<<10, nil)
		if err != nil || r.Header.Get(wire.CanonicalName(name)) != "y" {
			t.Errorf("%q: got %v, %v", name, r, err)
		}
	}
}
