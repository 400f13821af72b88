package proxy_test

import (
	"context"
	"io"
	"net/http"
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

// lending has a proxy serve what net/http carries.
type lending struct{ to *proxy.Proxy }

func (l lending) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := *r.URL
	request := &wire.Request{
		Method: r.Method, URL: &at, Host: r.Host, Header: wire.Header(r.Header).Clone(), Body: r.Body,
		ContentLength: r.ContentLength, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor, RemoteAddr: r.RemoteAddr, TLS: r.TLS,
	}
	c := &lentTo{w: w, control: http.NewResponseController(w)}
	whole := l.to.Serve(c, request.WithContext(r.Context()))
	c.over.Store(true)
	spoil(request.Header)
	at = url.URL{Path: "/" + spoilt}
	*request = wire.Request{Method: spoilt, Host: spoilt, Header: request.Header, URL: &at, RemoteAddr: spoilt}
	request.WithContext(context.Background())
	if !whole {
		panic(http.ErrAbortHandler)
	}
}

// lentTo is the client of one request.
type lentTo struct {
	w       http.ResponseWriter
	control *http.ResponseController
	over    atomic.Bool
}

func (c *lentTo) lent() *http.ResponseController {
	if c.over.Load() {
		panic("a client is used when its request is over")
	}
	return c.control
}

func (c *lentTo) Header() wire.Header                { c.lent(); return wire.Header(c.w.Header()) }
func (c *lentTo) WriteHeader(status int)             { c.lent(); c.w.WriteHeader(status) }
func (c *lentTo) Write(b []byte) (int, error)        { c.lent(); return c.w.Write(b) }
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
