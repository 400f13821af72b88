package h1test

import (
	"context"
	"io"
	"net/url"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/server"
	"berth/internal/wire"
)

// What is lent with requests and answers is spoilt here when it is given back: a part that keeps a map or a list of
// values would else fail now and then, with what is another's.
const spoilt = "kept-longer-than-lent"

func spoil(h wire.Header) {
	for _, values := range h {
		for i := range values {
			values[i] = spoilt
		}
	}
	clear(h)
	h["Spoilt"] = []string{spoilt}
}

// lender is a sender whose answers' headers are spoilt with the end of their bodies.
type lender struct{ exchange.Sender }

func (l lender) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	response, err := l.Sender.Send(ctx, request, wait)
	if err != nil {
		return nil, err
	}
	lent := *response
	lent.Header = response.Header.Clone()
	if lent.Header == nil {
		lent.Header = wire.Header{}
	}
	lent.Body = &lentBody{ReadCloser: response.Body, response: &lent, header: lent.Header}
	return &lent, nil
}

type lentBody struct {
	io.ReadCloser
	response *wire.Response
	header   wire.Header
	once     sync.Once
}

func (b *lentBody) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() { spoil(b.header) })
	return err
}

// lentTo is a handler whose requests are spoilt when they were answered.
type lentTo struct{ server.Handler }

func (l lentTo) Serve(w wire.Client, r *wire.Request) bool {
	lent, target := *r, *r.URL
	lent.URL, lent.Header = &target, r.Header.Clone()
	if lent.Header == nil {
		lent.Header = wire.Header{}
	}
	header := lent.Header
	defer func() {
		spoil(header)
		target = url.URL{Path: spoilt}
		lent = wire.Request{Method: spoilt, URL: &target, Header: header, Body: lentEnd{}}
	}()
	return l.Handler.Serve(w, &lent)
}

// lentEnd is a body that nobody may read any more.
type lentEnd struct{}

func (lentEnd) Read([]byte) (int, error) { panic("a body was read after its request") }
