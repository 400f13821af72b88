package proxy

import (
	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/proxy/reply"
	"berth/routing"
)

// sendOver sends out to u once and waits for the answer's headers, over the early stream.
func (x *request) sendOver(u *routing.Upstream, out *exchange.Request, t outbound.Terms) (*wire.Response, error) {
	t.Wait, t.Watched = x.Patience, true
	to := outbound.To(x.Endpoint)
	if early := x.bridge(); early != nil {
		return during(early, func() (*wire.Response, error) { return to.Send(x.ctx, u, out, t) })
	}
	return to.Send(x.ctx, u, out, t)
}

// firstPiece reads the first piece of an answer: until it is here the client has nothing
// of it, whenever the headers came.
func (x *request) firstPiece(reader *exchange.Reader) (exchange.Piece, error) {
	if early := x.out.Early; early != nil {
		return during(early, reader.Next)
	}
	return reader.Next()
}

// during returns what step does, beside an early stream.
func during[T any](early *reply.Early, step func() (T, error)) (result T, err error) {
	early.Await(func() { result, err = step() })
	return result, err
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
