package proxy_test

import (
	"context"
	"io"
	"net/url"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy"
)

// All tests of a proxy lend it what a server and a client of HTTP/1.1 lend, and spoil that when its time is over: who
// keeps it finds rubbish in it, or is found by the race detector.

const spoilt = "spoilt: it was lent, and is not any more"

// spoil makes rubbish of a header and of the lists in it.
func spoil(h wire.Header) {
	for _, values := range h {
		for i := range values {
			values[i] = spoilt
		}
	}
	clear(h)
	h["Authorization"], h["Mcp-Session-Id"] = []string{spoilt}, []string{spoilt}
}

// lending has a proxy serve what it lends to it.
type lending struct{ to *proxy.Proxy }

func (l lending) Serve(w wire.Client, r *wire.Request) (whole bool) {
	at := *r.URL
	request := *r
	request.URL, request.Header = &at, r.Header.Clone()
	c := &lentTo{w: w}
	whole = l.to.Serve(c, &request)
	c.over.Store(true)
	spoil(request.Header)
	at = url.URL{Path: "/" + spoilt}
	request = wire.Request{Method: spoilt, Host: spoilt, Header: request.Header, URL: &at, RemoteAddr: spoilt}
	request.WithContext(context.Background())
	return whole
}

// lentTo is the client of one request.
type lentTo struct {
	w    wire.Client
	over atomic.Bool
}

func (c *lentTo) lent() wire.Client {
	if c.over.Load() {
		panic("a client is used when its request is over")
	}
	return c.w
}

func (c *lentTo) Header() wire.Header                { return c.lent().Header() }
func (c *lentTo) WriteHeader(status int)             { c.lent().WriteHeader(status) }
func (c *lentTo) Write(b []byte) (int, error)        { return c.lent().Write(b) }
func (c *lentTo) Flush() error                       { return c.lent().Flush() }
func (c *lentTo) SetReadDeadline(t time.Time) error  { return c.lent().SetReadDeadline(t) }
func (c *lentTo) SetWriteDeadline(t time.Time) error { return c.lent().SetWriteDeadline(t) }

// lendingSender lends answers, and needs a request no longer than Send takes.
type lendingSender struct{ exchange.Sender }

func (s lendingSender) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	own := *request
	own.Header = request.Header.Clone()
	if request.Body != nil {
		own.Body = append([]byte{}, request.Body...)
	}
	response, err := s.Sender.Send(ctx, &own, wait)
	if err != nil {
		return nil, err
	}
	lent := *response
	lent.Header = response.Header.Clone()
	lent.Body = &lentAnswer{response.Body, &lent, lent.Header}
	request.Written = true
	return &lent, nil
}

// lentAnswer is the body with which an answer ends.
type lentAnswer struct {
	io.ReadCloser
	lent   *wire.Response
	header wire.Header
}

func (a *lentAnswer) Close() error {
	spoil(a.header)
	*a.lent = wire.Response{Status: 999, Phrase: spoilt, Header: a.header, Body: a.lent.Body, ContentLength: 1 << 40}
	return a.ReadCloser.Close()
}
