package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/wire"
)

// counting is a client that counts the connections that it makes.
func counting(t *testing.T) (*Client, *atomic.Int64) {
	t.Helper()
	dials := new(atomic.Int64)
	c := New(Options{Connect: 5 * time.Second, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}})
	t.Cleanup(c.Close)
	return c, dials
}

// ask posts a body, and returns the status and the body of the answer.
func ask(t *testing.T, c exchange.Sender, to, method, body string) (int, string) {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	response, err := c.Send(t.Context(), &exchange.Request{Method: method, URL: u, Header: new(wire.Header), Body: []byte(body)}, 0)
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	return response.Status, exchangetest.ReadAll(t, response)
}

// age has the idle connections of c rest for a second already.
func (c *Client) age() (idle int) {
	for _, h := range *c.hosts.Load() {
		h.mu.Lock()
		for _, conn := range h.idle {
			conn.since = conn.since.Add(-time.Second)
			idle++
		}
		h.mu.Unlock()
	}
	return idle
}

// saying is an upstream that answers each request with text, and goes on if keeps.
func saying(t *testing.T, text string, keeps bool) *exchangetest.Rude {
	t.Helper()
	return exchangetest.NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool {
		_, err := io.WriteString(conn, text)
		return err == nil && keeps
	})
}
