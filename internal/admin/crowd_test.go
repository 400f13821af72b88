package admin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"
)

// Whoever holds connections, asked or not, takes no files from clients, and keeps nobody out.
func TestConnectionsAreBounded(t *testing.T) {
	s, _ := run(t, Options{})
	address := s.Addr().String()
	for _, first := range []string{"", "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"} {
		ask := func(text string) net.Conn {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			fmt.Fprint(conn, text)
			if text == "" {
				return conn
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Fatalf("got %v, %v", answer, err)
			}
			return conn
		}
		earliest := ask(first)
		for range mostConnections {
			ask(first)
		}
		held := true
		for i := 0; i < mostConnections && held; i++ { // the server may have seen others wait before this one
			ask("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
			_ = earliest.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			_, err := io.Copy(io.Discard, earliest)
			held = errors.Is(err, os.ErrDeadlineExceeded)
		}
		if held {
			t.Error("one of those that have waited the longest is held")
		}
	}
}

// Who has waited the longest goes first, and nobody who is asking.
func TestWhoHasWaitedTheLongestGoesFirst(t *testing.T) {
	c := new(crowd)
	gone := make(chan string, 1)
	come := func(name string) net.Conn {
		conn := &leaver{name: name, gone: gone}
		c.state(conn, http.StateNew)
		return conn
	}
	asking, again, next := come("asking"), come("again"), come("next")
	c.state(asking, http.StateActive)
	c.state(again, http.StateActive)
	c.state(again, http.StateIdle)
	for range mostConnections - 3 {
		come("later")
	}
	c.state(next, http.StateActive)
	c.state(next, http.StateIdle)
	for _, want := range []string{"again", "later"} {
		come("last")
		if got := <-gone; got != want {
			t.Errorf("%s went, want %s", got, want)
		}
	}
}

// leaver is a connection that says when it is closed.
type leaver struct {
	net.Conn
	name string
	gone chan<- string
}

func (l *leaver) Close() error {
	l.gone <- l.name
	return nil
}
