package load

import (
	"bufio"
	"net"
	"testing"
)

// serve answers each request of one line by the next answer, and returns the connection to it.
func serve(t *testing.T, answers ...string) *Conn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer server.Close()
		in := bufio.NewReader(server)
		for _, answer := range answers {
			if _, err := in.ReadString('\n'); err != nil {
				return
			}
			if _, err := server.Write([]byte(answer)); err != nil {
				return
			}
		}
	}()
	return &Conn{conn: client, in: bufio.NewReader(client)}
}

func TestAnswersOfEitherFormAreReadToTheirEnd(t *testing.T) {
	const (
		counted = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
		chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nsec\r\n3\r\nond\r\n0\r\nX-Trailer: a\r\n\r\n"
		refused = "HTTP/1.1 404 Not Found\r\nMcp-Session-Id: s1\r\nContent-Length: 0\r\n\r\n"
	)
	c := serve(t, counted, chunked, refused)
	for _, want := range []struct {
		status        int
		body, session string
	}{{200, "first", ""}, {200, "second", ""}, {404, "", "s1"}} {
		got, err := c.Exchange([]byte("request\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != want.status || string(got.Body) != want.body || got.Session != want.session {
			t.Errorf("got %d %q %q, want %v", got.Status, got.Body, got.Session, want)
		}
	}
}

func TestAnswersThatCannotBeReadAreErrors(t *testing.T) {
	for _, answer := range []string{
		"", "HTTP\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ncut", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nc",
	} {
		if got, err := serve(t, answer).Exchange([]byte("request\n")); err == nil {
			t.Errorf("%q: got %v, want an error", answer, got)
		}
	}
}

func TestFollowHearsEachLineUntilTheEnd(t *testing.T) {
	c := serve(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\ndata: a\r\n2\r\n\n\n\r\n9\r\ndata: bc\n\r\n")
	if _, err := c.Open([]byte("request\n")); err != nil {
		t.Fatal(err)
	}
	var heard []string
	if err := c.Follow(func(line []byte) { heard = append(heard, string(line)) }); err == nil {
		t.Error("a stream that broke off: got no error")
	}
	if len(heard) != 3 || heard[0] != "data: a\n" || heard[2] != "data: bc\n" {
		t.Errorf("got %q", heard)
	}
}
