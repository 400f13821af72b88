package outbound

import (
	"net/url"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
)

// Parcel is room for a request to an upstream, to be used again once its sender has that no more
// (exchange.Request.Written). The zero value is ready. It is for one goroutine.
type Parcel struct {
	filled  bool
	request exchange.Request
	header  *wire.Header
}

// Request is Way.Request within the parcel. What that holds, if it was not emptied, stays with whoever has it.
func (p *Parcel) Request(w *Way, u *routing.Upstream, method string, target *url.URL, body []byte) *exchange.Request {
	if p.filled {
		*p = Parcel{}
	}
	p.filled = true
	if p.header == nil {
		p.header = new(wire.Header)
	}
	w.fill(p.header)
	p.request = exchange.Request{
		Method: method, URL: target, Host: w.Endpoint.HostFor(u, w.HTTP.Host), Header: p.header, Body: body,
		Modern: w.Era() == mcp.EraModern, Caller: w.Principal, Unsent: w.unsent(u),
	}
	if c := w.Single(); c != nil {
		p.request.GoesOn, p.request.Meets = c.RequestState != "", c.Method == mcp.MethodDiscover
	}
	return &p.request
}

// Empty lets go of the request. Room for more than most requests need is not kept.
func (p *Parcel) Empty() {
	const most = 64
	if p.header == nil || p.header.Room() > most {
		*p = Parcel{}
		return
	}
	p.header.Forget()
	*p = Parcel{header: p.header}
}
