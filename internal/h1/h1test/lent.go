package h1test

import (
	"context"
	"io"
	"net/url"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/server"
	"berth/internal/wire"
)

// Requests and answers are lent here as a server and a client lend them, and spoilt when their time is over: who keeps
// one finds rubbish in it, or is found by the race detector.

const spoilt = "spoilt: it was lent, and is not any more"

// spoil makes rubbish of a header and of its fields.
func spoil(h *wire.Header) {
	fields := h.Fields()
	for i := range fields {
		fields[i] = wire.Field{Name: spoilt, Value: spoilt}
	}
	h.Forget()
	h.Add("Authorization", spoilt)
	h.Add("Mcp-Session-Id", spoilt)
}

// lending is a handler that is lent its requests and their clients.
type lending struct{ to server.Handler }

func (l lending) Serve(w wire.Client, r *wire.Request) bool {
	own, at := *r, *r.URL
	own.URL, own.Header = &at, r.Header.Clone()
	if own.Header == nil {
		own.Header = new(wire.Header)
	}
	c := &lentClient{Client: w}
	c.end = func() {
		c.over.Store(true)
		spoil(own.Header)
		at = url.URL{Path: "/" + spoilt}
		own = wire.Request{Method: spoilt, Host: spoilt, Header: own.Header, URL: &at, RemoteAddr: spoilt}
		own.WithContext(context.Background())
	}
	defer func() {
		if !c.held {
			c.end()
		}
	}()
	if holder, ok := w.(wire.Holder); ok {
		return l.to.Serve(&lentHolder{c, holder}, &own)
	}
	return l.to.Serve(c, &own)
}

// lentHolder is a client that may be held.
type lentHolder struct {
	*lentClient
	holder wire.Holder
}

func (h *lentHolder) Hold() (end func(whole bool)) {
	over := h.holder.Hold()
	h.held = true
	return func(whole bool) {
		h.end()
		over(whole)
	}
}

// lentClient is the client of one request.
type lentClient struct {
	wire.Client
	over atomic.Bool
	held bool
	end  func()
}

func (c *lentClient) lent() wire.Client {
	if c.over.Load() {
		panic("a client is used when its request is over")
	}
	return c.Client
}

func (c *lentClient) Header() *wire.Header               { return c.lent().Header() }
func (c *lentClient) WriteHeader(status int)             { c.lent().WriteHeader(status) }
func (c *lentClient) Write(b []byte) (int, error)        { return c.lent().Write(b) }
func (c *lentClient) Flush() error                       { return c.lent().Flush() }
func (c *lentClient) SetReadDeadline(t time.Time) error  { return c.lent().SetReadDeadline(t) }
func (c *lentClient) SetWriteDeadline(t time.Time) error { return c.lent().SetWriteDeadline(t) }

// lender is a sender that lends answers, and needs a request no longer than Send takes.
type lender struct{ exchange.Sender }

func (l lender) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	own := *request
	own.Header = request.Header.Clone()
	if request.Body != nil {
		own.Body = append([]byte{}, request.Body...)
	}
	response, err := l.Sender.Send(ctx, &own, wait)
	if err != nil {
		return nil, err
	}
	lent := *response
	lent.Header = response.Header.Clone()
	if lent.Header == nil {
		lent.Header = new(wire.Header)
	}
	lent.Body = &lentAnswer{ReadCloser: response.Body, lent: &lent, header: lent.Header}
	request.Written = true
	return &lent, nil
}

// lentAnswer is the body with which an answer ends.
type lentAnswer struct {
	io.ReadCloser
	lent   *wire.Response
	header *wire.Header
	given  atomic.Bool
	over   atomic.Bool
}

// Wait implements wire.Waiter.
func (a *lentAnswer) Wait() {
	if body, ok := a.ReadCloser.(wire.Waiter); ok {
		a.giveBack()
		body.Wait()
	}
}

// Await implements wire.Waiter.
func (a *lentAnswer) Await(ready func()) bool {
	body, ok := a.ReadCloser.(wire.Waiter)
	if ok {
		a.giveBack()
	}
	return ok && body.Await(ready)
}

// giveBack ends what the header is lent for.
func (a *lentAnswer) giveBack() {
	if !a.given.Swap(true) {
		spoil(a.header)
	}
}

func (a *lentAnswer) Close() error {
	if !a.over.Swap(true) {
		a.giveBack()
		*a.lent = wire.Response{Status: 999, Phrase: spoilt, Header: a.header, Body: a.lent.Body, ContentLength: 1 << 40}
	}
	return a.ReadCloser.Close()
}
