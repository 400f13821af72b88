package exchangetest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// heads are what upstreams answer that is no answer, each with whether it has a body: one
// without is back among the idle connections before it is looked at.
var heads = []string{
	"101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
	"101 Switching Protocols\r\n\r\n",
	"101 Switching Protocols\r\nContent-Length: 2\r\n\r\n{}",
	"099 Low\r\nContent-Length: 2\r\n\r\n{}",
	"099 Low\r\nContent-Length: 0\r\n\r\n",
	"000 Nothing\r\nContent-Length: 0\r\n\r\n",
	"600 High\r\nContent-Length: 0\r\n\r\n",
	"600 High\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	"999 High\r\nContent-Length: 2\r\n\r\n{}",
	"-12 Negative\r\nContent-Length: 0\r\n\r\n",
	"+12 Signed\r\nContent-Length: 0\r\n\r\n",
	"1000 Long\r\nContent-Length: 0\r\n\r\n",
	"20 Short\r\nContent-Length: 0\r\n\r\n",
	"two Word\r\nContent-Length: 0\r\n\r\n",
	"\r\n\r\n",
	"200 OK\r\nno header at all\r\n\r\n",
	"100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n\r\n",
	"103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 099 Low\r\n\r\n",
	strings.Repeat("103 Early Hints\r\nX: "+strings.Repeat("x", 8<<10)+"\r\n\r\nHTTP/1.1 ", 64) + "200 OK\r\n\r\n",
}

// 101 reached a client, behind a proxy that took it for its own: everything after that was
// a tunnel. 099 panicked whoever passed it on.
func testAnswersThatAreNone(t *testing.T, s subject) {
	for _, head := range heads {
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			t.Run(fmt.Sprintf("%s %.20q", method, head), func(t *testing.T) {
				closed := make(chan error, 1)
				u := NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool {
					if _, err := io.WriteString(conn, "HTTP/1.1 "+head); err == nil {
						_, err = conn.Read(make([]byte, 1))
						closed <- err
					} else {
						closed <- err
					}
					return false
				})
				r := Post(t, t.Context(), u.URL, "{}")
				r.Method = method
				failed := Fails(t, s.client(t), r, 0)
				if !failed.Garbled || !failed.Sent || failed.TimedOut || failed.Refused {
					t.Errorf("got %+v, want it garbled and sent", failed)
				}
				if err := <-closed; err == nil {
					t.Error("the connection was used again")
				}
			})
		}
	}
}

// What breaks off says nothing of how the upstream words its answers.
func testHeadThatBreaksOffIsNotGarbled(t *testing.T, s subject) {
	for _, head := range []string{"", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 103 Early Hints\r\n\r\n"} {
		for name, end := range map[string]func(*net.TCPConn) bool{"FIN": func(*net.TCPConn) bool { return false }, "RST": Reset} {
			u := NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool {
				_, _ = io.WriteString(conn, head)
				return end(conn)
			})
			if failed := Fails(t, s.client(t), Post(t, t.Context(), u.URL, "{}"), 0); failed.Garbled || !failed.Sent {
				t.Errorf("%q, %s: got %+v, want it broken off", head, name, failed)
			}
		}
	}
}

// Informational answers are nobody's but the connection's (RFC 9110, 15.2).
func testInformationalAnswersAreSkipped(t *testing.T, s subject) {
	u := NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool {
		_, err := io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
		return Polite(conn) && err == nil
	})
	c := s.client(t)
	for range 2 {
		response, err := Send(c, Post(t, t.Context(), u.URL, "{}"), 0)
		Swallow(t, response, err)
		if response.Status != http.StatusOK || response.Header.Get("Link") != "" {
			t.Errorf("got %d %v, want the last answer alone", response.Status, response.Header)
		}
	}
}

// Statuses that nobody has registered are answers like those that somebody has.
func testStatusesThatEndAnExchange(t *testing.T, s subject) {
	for _, status := range []int{200, 299, 399, 418, 499, 599} {
		u := NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool {
			_, err := fmt.Fprintf(conn, "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", status)
			return !errors.Is(err, net.ErrClosed)
		})
		response, err := Send(s.client(t), Post(t, t.Context(), u.URL, "{}"), 0)
		Swallow(t, response, err)
		if response.Status != status {
			t.Errorf("got %d, want %d", response.Status, status)
		}
	}
}
