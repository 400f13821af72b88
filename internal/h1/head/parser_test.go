package head

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"berth/internal/h1/buffer"
)

// said is a buffered connection whose other end says raw in pieces of step bytes, and hangs up.
func said(t testing.TB, raw string, step int) *buffer.Reader {
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close() })
	go func() {
		defer far.Close()
		for rest := []byte(raw); len(rest) > 0; {
			n := min(step, len(rest))
			if _, err := far.Write(rest[:n]); err != nil {
				return
			}
			rest = rest[n:]
		}
	}()
	src := new(buffer.Reader)
	src.Reset(near)
	return src
}

func TestARequestHowEverItsBytesCome(t *testing.T) {
	const raw = "POST /mcp?a=b HTTP/1.1\r\nhost: a:1\r\nCONTENT-LENGTH:  5 \r\nmcp-session-id: x\r\nX-y: 1\r\nx-Y: 2\r\n\r\nhello"
	for step := 1; step <= len(raw); step++ {
		var p Parser
		src := said(t, raw, step)
		r, err := p.Request(src, 1<<10, nil)
		if err != nil {
			t.Fatalf("in pieces of %d: %v", step, err)
		}
		if r.Method != "POST" || r.Target != "/mcp?a=b" || r.URL.Path != "/mcp" || r.Host != "a:1" || r.Length != 5 || r.Close ||
			r.Header.Get("Mcp-Session-Id") != "x" || r.Header.Join("X-Y", "") != "12" || len(r.Header.Fields()) != 4 {
			t.Errorf("in pieces of %d: got %+v", step, r)
		}
		if body, err := src.Peek(5); string(body) != "hello" {
			t.Errorf("in pieces of %d: left %q, %v", step, body, err)
		}
	}
}

func TestAnAnswersFirstLineAndFramingAreRead(t *testing.T) {
	var p Parser
	r, err := p.Response(said(t, "HTTP/1.0 404 Not There\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", 7), 1<<10)
	if err != nil || r.Status != 404 || r.Phrase != "Not There" || r.Minor != 0 || r.Close || r.Length != 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	r, err = p.Response(said(t, "HTTP/1.1 204\r\n\r\n", 100), 1<<10)
	if err != nil || r.Status != 204 || r.Phrase != "" || r.Length != NoLength {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A name may come any number of times, and others between.
func TestRepeatedNames(t *testing.T) {
	for _, names := range []string{"abc", "aab", "abab", "aaaa", "abcabcabc", "abbbac"} {
		raw, want := "GET / HTTP/1.0\r\n", map[string]string{}
		for i, name := range names {
			raw += fmt.Sprintf("%c: %d\r\n", name, i)
			want[strings.ToUpper(string(name))] += fmt.Sprint(i)
		}
		var p Parser
		r, err := p.Request(said(t, raw+"\r\n", 100), 1<<10, nil)
		if err != nil || len(r.Header.Fields()) != len(names) {
			t.Fatalf("%s: got %v, %v", names, r, err)
		}
		for name, values := range want {
			if got := strings.Join(slices.Collect(r.Header.Values(name)), ""); got != values {
				t.Errorf("%s: %s: got %s, want %s", names, name, got, values)
			}
		}
	}
}
