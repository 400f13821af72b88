package command

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/internal/config"
	"berth/internal/realtest"
)

// The address that a trusted peer passes on is the client's in the log, for limits and upstream; over TLS
// as well, which begins after the header.
func TestClientOfThePROXYProtocolIsTheOneThatCalls(t *testing.T) {
	t.Parallel()
	h := newHarbour(t, func(cfg *config.Config) {
		cfg.ProxyProtocol, cfg.TLS.HTTP2, cfg.Limits.ConnectionsPerAddress = true, false, 2
		cfg.Limits.InFlightPerCaller = 100
	})
	callAs := func(client string) (*http.Response, error) {
		raw, err := net.Dial("tcp", h.address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { raw.Close() })
		_ = raw.SetDeadline(time.Now().Add(realtest.Within))
		fmt.Fprintf(raw, "PROXY TCP4 %s 192.0.2.1 4711 443\r\n", client)
		conn := tls.Client(raw, &tls.Config{RootCAs: h.root.Pool(), ServerName: "localhost"})
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"quick","arguments":{}}}`
		_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
			"Content-Length: %d\r\n\r\n%s", len(body), body)
		if err != nil {
			return nil, err
		}
		return http.ReadResponse(bufio.NewReader(conn), nil)
	}
	for i := range 3 {
		response, err := callAs("198.51.100.7")
		if i == 2 {
			if err == nil {
				t.Error("a third connection of one client's stands: connections_per_address does not count for it")
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusOK || !strings.Contains(string(body), "for=198.51.100.7") {
			t.Errorf("got %d, %s, want that upstream the client is told", response.StatusCode, body)
		}
	}
	response, err := callAs("198.51.100.8")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("another client: got %v, %v", response, err)
	}
	realtest.Eventually(t, "the log tells the client", func() bool { return h.logs.Count("198.51.100.7") > 0 })
}
