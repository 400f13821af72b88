package proxy

import (
	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
)

// sendOver sends out to u once and waits for the answer's headers, over the stopgap.
func (x *request) sendOver(u *routing.Upstream, out *exchange.Request, t outbound.Terms) (response *wire.Response, err error) {
	t.Wait, t.Watched = x.Patience(), true
	x.bridge().Await(func() { response, err = outbound.To(x.Endpoint).Send(x.ctx, u, out, t) })
	return response, err
}

// firstPiece reads the first piece of an answer: until it is here the client has nothing
// of it, whenever the headers came.
func (x *request) firstPiece(reader *exchange.Reader) (piece exchange.Piece, err error) {
	x.out.Early.Await(func() { piece, err = reader.Next() })
	return piece, err
}

// beginEvents begins an upstream's event stream at the client. A stopgap becomes that
// stream, and from then on ends as that does.
func (x *request) beginEvents(response *wire.Response) error {
	if x.out.Early.IsOpen() {
		x.out.Early.Become()
		return nil
	}
	x.streamHeaders(response)
	x.out.WriteHeader(response.Status)
	if err := x.out.Flush(); err != nil && !x.readsOn() {
		return err
	}
	return nil
}
