package admin

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
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
		ask("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
		_ = earliest.SetReadDeadline(time.Now().Add(3 * time.Second))
		if _, err := io.Copy(io.Discard, earliest); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the one that has waited the longest is held: %v", err)
		}
	}
}
