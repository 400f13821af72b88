package client

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/cohort"
	"berth/internal/exchange"
	"berth/internal/wire"
)

// Options are how a client makes connections.
type Options struct {
	Connect time.Duration                    // a connection has to be made, and as long again to agree on TLS; 0: no limit
	Dial    exchange.Dial                    // makes connections, and bounds the time for that; nil: over TCP
	TLS     func(address string) *tls.Config // for a host and port, when a connection is made; nil: what Go takes for safe
}

// Client is an exchange.Sender. Make it with New.
type Client struct {
	options Options
	young   young

	mu    sync.Mutex // guards the writing of hosts
	hosts atomic.Pointer[map[origin]*host]
}

// New returns a client without connections.
func New(o Options) *Client {
	if o.Dial == nil {
		dialer := net.Dialer{Timeout: o.Connect}
		o.Dial = dialer.DialContext
	}
	c := &Client{options: o}
	c.hosts.Store(&map[origin]*host{})
	return c
}

// sending is the gate of requests before they are given a connection: a look at it is not to grow old at a gate.
var sending cohort.Gate

// Send implements exchange.Sender.
func (c *Client) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	t := terms{ctx: ctx, wait: wait, begun: request.Begun}
	if t.begun.IsZero() {
		t.begun = time.Now()
	}
	sending.Pass()
	if ctx.Err() != nil {
		return nil, unsent(ctx, context.Cause(ctx))
	}
	for {
		conn, err := c.take(&t, request.URL)
		if err != nil {
			return nil, unsent(ctx, err)
		}
		conn.begin(&t)
		response, err := conn.exchange(request)
		if err == nil {
			return response, nil
		}
		failed := conn.failure(err)
		conn.end(false)
		if err != errRestless {
			return nil, failed
		}
	}
}

// Close implements exchange.Sender.
func (c *Client) Close() {
	for _, h := range *c.hosts.Load() {
		closeAll(h.clear())
	}
}

// terms are those of an exchange.
type terms struct {
	ctx   context.Context // whose end ends the exchange
	wait  time.Duration   // for the answer's head; 0: any time
	begun time.Time
}

// until is when the answer's head is to be there; zero: whenever it comes.
func (t *terms) until() time.Time {
	if t.wait <= 0 {
		return time.Time{}
	}
	return t.begun.Add(t.wait)
}

// connecting returns the context in which a connection is made, or waited for.
func (t *terms) connecting() (context.Context, context.CancelFunc) {
	if t.wait <= 0 {
		return context.WithCancel(t.ctx)
	}
	return context.WithDeadlineCause(t.ctx, t.until(), exchange.ErrNotInTime)
}
