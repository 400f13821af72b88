// Package exchangetest is what tests of senders share: a client that speaks through one.
package exchangetest

import (
	"context"
	"io"
	"net/url"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// Client sends requests through a sender.
type Client struct {
	T       testing.TB
	To      exchange.Sender
	URL     *url.URL
	Session string // that its requests name; "": none
	Caller  string // whose requests they are; "": nobody's
}

// Send sends a request; header holds pairs of a name and a value.
func (c *Client) Send(ctx context.Context, method, body string, wait time.Duration, header ...string) (*wire.Response, error) {
	h := wire.NewHeader("Accept", "application/json, text/event-stream", "Content-Type", "application/json")
	if c.Session != "" {
		h.Set(mcp.HeaderSession, c.Session)
	}
	for i := 0; i < len(header); i += 2 {
		h.Set(wire.CanonicalName(header[i]), header[i+1])
	}
	request := &exchange.Request{Caller: c.Caller, Method: method, URL: c.URL, Host: "front.example", Header: h, Body: []byte(body)}
	response, err := c.To.Send(ctx, request, wait)
	if err != nil {
		return nil, err
	}
	return response.Kept(), nil // tests look at it when its body is closed
}

// Do is Send where there is to be an answer, however late.
func (c *Client) Do(method, body string, header ...string) *wire.Response {
	c.T.Helper()
	response, err := c.Send(c.T.Context(), method, body, 0, header...)
	if err != nil {
		c.T.Fatalf("%s %s: %v", method, body, err)
	}
	return response
}

// Later posts in the background.
func (c *Client) Later(body string, header ...string) <-chan *wire.Response {
	done := make(chan *wire.Response, 1)
	go func() { done <- c.Do(wire.MethodPost, body, header...) }()
	return done
}

// ReadAll reads and closes the body of an answer that is to be whole.
func ReadAll(t testing.TB, response *wire.Response) string {
	t.Helper()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Errorf("body: %v", err)
	}
	return string(body)
}
