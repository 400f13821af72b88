package framing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// whole lists the requests that handlers saw to their end.
func whole(requests []request) string {
	var seen []string
	for _, r := range requests {
		if r.whole {
			seen = append(seen, r.method+" "+r.target+" "+r.body)
		}
	}
	return strings.Join(seen, "|")
}

func TestServerAnswersAndHandlersSee(t *testing.T) {
	run := scripted(t)
	for _, tc := range framingCases() {
		for _, step := range []int{len(tc.raw), 1, 2, 3, 7} {
			t.Run(fmt.Sprintf("%s/in pieces of %d", tc.name, step), func(t *testing.T) {
				s := newScript([]byte(tc.raw), step)
				run(s)
				if got := whole(s.seen); got != tc.seen {
					t.Errorf("handlers saw %q, want %q", got, tc.seen)
				}
				if got := statuses(t, &s.out); got != tc.status {
					t.Errorf("answers %q, want %q", got, tc.status)
				}
			})
		}
	}
}

// The server refuses some of the cases on its own; that the gate refuses them too
// shows only here.
func TestStreamRefusesForReason(t *testing.T) {
	for _, tc := range framingCases() {
		t.Run(tc.name, func(t *testing.T) {
			s := stream{maxHeader: 1 << 10}
			s.next()
			n, err := s.pass([]byte(tc.raw))
			if !errors.Is(err, tc.reason) {
				t.Fatalf("refused for %v, want %v", err, tc.reason)
			}
			if err != nil && tc.raw[n] != '\n' || err == nil && n != len(tc.raw) {
				t.Errorf("passed %d bytes of %d, the next is %q", n, len(tc.raw), tc.raw[n:])
			}
		})
	}
}

// Every byte of a refused line has passed but its line feed, so the poison must
// spoil any line wherever it was cut off, and whatever would follow.
func TestPoisonSpoilsEveryPrefix(t *testing.T) {
	for _, tc := range clean() {
		for cut := range len(tc.raw) {
			s := stream{maxHeader: 1 << 10}
			s.next()
			s.pass([]byte(tc.raw[:cut]))
			if s.at == bodyData || s.at == chunkData {
				continue
			}
			seen, _ := playBare(t, tc.raw[:cut])
			for _, rest := range []string{"", get, "\r\n" + get} {
				got, status := playBare(t, tc.raw[:cut]+poison+rest)
				if got != seen || !strings.HasSuffix(status, "400") {
					t.Errorf("%s cut at %d, then %q: handlers saw %q, want %q, and answers %q, want 400 at the end",
						tc.name, cut, rest, got, seen, status)
				}
			}
		}
	}
}

// playBare plays raw to a server without a gate and returns what handlers saw
// whole, and the answers.
func playBare(t *testing.T, raw string) (seen, status string) {
	front := newHandoff()
	srv := &http.Server{
		Handler:     http.HandlerFunc(record),
		ConnContext: scriptOf,
		ErrorLog:    log.New(io.Discard, "", 0),
	}
	go srv.Serve(front)
	defer srv.Close()
	s := newScript([]byte(raw), 1<<10)
	front.conns <- s
	<-s.closed
	return whole(s.seen), statuses(t, &s.out)
}

func TestRefusalNeedsNoFurtherBytes(t *testing.T) {
	addr := serve(t, 0, &http.Server{})
	for _, raw := range []string{
		"GET / HTTP/1.1\n",
		"PRI * HTTP/2.0\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n",
	} {
		c := dial(t, addr)
		if _, err := io.WriteString(c, raw); err != nil {
			t.Fatal(err)
		}
		if got := statuses(t, c); got != "400" {
			t.Errorf("%q was answered %q, want 400", raw, got)
		}
	}
}

func TestTooLongHeadIsAnswered431(t *testing.T) {
	const limit = 8 << 10
	served := make(chan struct{}, 1)
	addr := serve(t, limit, &http.Server{Handler: http.HandlerFunc(
		func(http.ResponseWriter, *http.Request) { served <- struct{}{} })})
	fill := func(size int) string {
		const rest = "GET / HTTP/1.1\r\nHost: a\r\nA: \r\n\r\n"
		return "GET / HTTP/1.1\r\nHost: a\r\nA: " + strings.Repeat("b", size-len(rest)) + "\r\n\r\n"
	}
	for _, tc := range []struct{ raw, want string }{
		{fill(limit), "200"},
		{fill(limit + 1), "431"},
		{"GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("A: b\r\n", 10_000) + "\r\n", "431"},
		{"GET /" + strings.Repeat("b", 2<<20), "431"},
	} {
		c := dial(t, addr)
		go io.WriteString(c, tc.raw)
		in := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(c, in); err != nil {
			t.Fatalf("head of %d bytes: %v", len(tc.raw), err)
		}
		c.Close()
		if got := string(in[len("HTTP/1.1 "):]); got != tc.want {
			t.Errorf("head of %d bytes was answered %s, want %s", len(tc.raw), got, tc.want)
		}
		if got := len(served) == 1; got != (tc.want == "200") {
			t.Errorf("head of %d bytes: a handler ran: %v", len(tc.raw), got)
		}
		if len(served) == 1 {
			<-served
		}
	}
}

// The limit is for each head and each trailer section, not for a connection; and
// bodies are none of its business.
func TestLimitIsPerSection(t *testing.T) {
	body := strings.Repeat("1\r\na\r\n", 100)
	raw := strings.Repeat(post("Transfer-Encoding: chunked\n", body+"0\r\nX-Sum: 1\r\n\r\n"), 3)
	s := stream{maxHeader: 64}
	s.next()
	if _, err := s.pass([]byte(raw)); err != nil {
		t.Errorf("refused for %v, want all passed", err)
	}
	s.next()
	long := "0\r\nX-Sum: " + strings.Repeat("1", 64) + "\r\n\r\n"
	if _, err := s.pass([]byte(post("Transfer-Encoding: chunked\n", long))); !errors.Is(err, errTooLong) {
		t.Errorf("long trailers: got %v, want %v", err, errTooLong)
	}
}

func TestHangUpCancelsRequest(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	addr := serve(t, 0, &http.Server{Handler: http.HandlerFunc(
		func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			close(started)
			<-r.Context().Done()
			close(ended)
		})})
	c := dial(t, addr)
	io.WriteString(c, post("Transfer-Encoding: chunked\n", "1\r\na\r\n0\r\n\r\n"))
	await(t, "start", started)
	c.Close()
	await(t, "end", ended)
}

func await(t *testing.T, what string, event chan struct{}) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(10 * time.Second):
		t.Fatalf("the handler did not %s", what)
	}
}

// A server that answers before it has read the body closes its sending side first,
// so that the client can read the answer while it still sends.
func TestCloseWriteReachesConnection(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gate := NewListener(inner, 0)
	defer gate.Close()
	client := dial(t, inner.Addr().String())
	accepted, err := gate.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if err := accepted.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(client); err != nil || len(got) > 0 {
		t.Errorf("client read %q, %v, want the end", got, err)
	}
	if err := (&conn{Conn: newScript(nil, 1)}).CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without one: got %v, want %v", err, errors.ErrUnsupported)
	}
}

func TestReadReturnsBytesTogetherWithError(t *testing.T) {
	c := conn{Conn: lastWords{newScript([]byte(get), 1<<10)}, stream: stream{maxHeader: 1 << 10}}
	c.stream.next()
	p := make([]byte, 1<<10)
	n, err := c.Read(p)
	if !bytes.Equal(p[:n], []byte(get)) || err != io.EOF {
		t.Errorf("got %q, %v, want the request and %v", p[:n], err, io.EOF)
	}
}

// lastWords returns io.EOF together with the last bytes, as TLS does.
type lastWords struct{ *script }

func (l lastWords) Read(p []byte) (int, error) {
	n, _ := l.script.Read(p)
	return n, io.EOF
}
