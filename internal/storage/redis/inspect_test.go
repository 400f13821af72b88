package redis

import (
	"bufio"
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// node is the address of what answers PING like a server without a password, or nothing at all.
func node(t *testing.T, answers bool) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if answers {
				go answerPings(conn)
			}
		}
	}()
	return listener.Addr().String()
}

func answerPings(conn net.Conn) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		switch strings.ToLower(lines.Text()) {
		case "ping":
			_, _ = conn.Write([]byte("+PONG\r\n"))
		case "hello":
			_, _ = conn.Write([]byte("-ERR unknown command\r\n"))
		}
	}
}

// Of those that a URL names a node that does not answer is in nobody's way, unless none does.
func TestInspectGoesByThoseThatAnswer(t *testing.T) {
	frozen, well := node(t, false), node(t, true)
	for url, want := range map[string][]string{
		frozen + "," + well: {well},
		frozen:              {frozen},
	} {
		named, err := ParseClusterURL("redis+cluster://" + url)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		i := &inspection{servers: named}
		if got := i.answering(ctx, Options{Timeout: time.Second}).options.Addrs; !slices.Equal(got, want) {
			t.Errorf("%s: goes by %q, want %q", url, got, want)
		}
		if len(i.found) != 1 || !i.found[0].Warning || !strings.Contains(i.found[0].Text, frozen+" does not answer") {
			t.Errorf("%s: found %v, want a warning of the frozen one", url, i.found)
		}
	}
}
