package admin

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"testing"
)

// HAProxy's checks are HTTP/1.0 without a Host, with OPTIONS where a path alone is named: they
// were answered 403 on loopback.
func TestChecksWithoutANameAreLetIn(t *testing.T) {
	s, _ := run(t, Options{Metrics: metrics})
	for _, tt := range []struct {
		request string
		status  int
	}{
		{"GET /livez HTTP/1.0\r\n\r\n", 200},
		{"OPTIONS /livez HTTP/1.0\r\n\r\n", 200},
		{"GET /readyz HTTP/1.0\r\n\r\n", 200},
		{"OPTIONS /readyz HTTP/1.0\r\n\r\n", 200},
		{"HEAD /readyz HTTP/1.0\r\n\r\n", 200},
		{"GET /readyz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n", 200},
		{"GET /metrics HTTP/1.0\r\n\r\n", 403},
		{"GET /readyz HTTP/1.0\r\nHost: evil.example\r\n\r\n", 403},
	} {
		if got := sendRaw(t, s.Addr(), tt.request); got != tt.status {
			t.Errorf("%q: got %d, want %d", tt.request, got, tt.status)
		}
	}
	s.SetDraining()
	if got := sendRaw(t, s.Addr(), "OPTIONS /readyz HTTP/1.0\r\n\r\n"); got != 503 {
		t.Errorf("OPTIONS /readyz while draining: got %d, want 503", got)
	}
}

// sendRaw sends a request's bytes on a connection of its own and returns the answer's status.
func sendRaw(t *testing.T, addr net.Addr, request string) int {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), addr.Network(), addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprint(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}
