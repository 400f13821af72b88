package proxy

import (
	"bytes"
	"errors"
	"io"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/routing"
)

// refusedFeed is an upstream's answer to a subscription that is none. It is an error
// to whoever wanted one.
type refusedFeed struct {
	upstream *routing.Upstream
	response *wire.Response // unread; nil if the refusal came as an event
	message  []byte         // the error response in that event
}

func (*refusedFeed) Error() string { return "proxy: the upstream refused the subscription" }

// drop ends the exchange of a refusal that nobody is told of; nil is none.
func (r *refusedFeed) drop() {
	if r != nil && r.response != nil {
		r.response.Body.Close()
	}
}

// passing reports whether the refusal says nothing about the subscription: that of a
// gateway whose server is away, of a server that has just begun, or has too much to do.
func (r *refusedFeed) passing() bool {
	if r.response == nil || r.response.Status == wire.StatusNotImplemented {
		return false
	}
	return r.response.Status == wire.StatusTooManyRequests || r.response.Status/100 == 5
}

// repeat reads the refusal of a request of berth's own, as far as outbound.MaxRefusal, tells crossed
// if it is the answer to another one, and returns a function that tells it anew, to the request with this JSON-RPC id.
func (r *refusedFeed) repeat(crossed func()) func(id []byte) error {
	if r.response == nil {
		return func(id []byte) error { return &refusedFeed{upstream: r.upstream, message: inPlaceOfOwn(r.message, id)} }
	}
	defer r.drop()
	message, err := io.ReadAll(io.LimitReader(r.response.Body, outbound.MaxRefusal))
	if err == nil && exchange.IsCrossed(r.response, message, []byte(outbound.OwnID)) {
		crossed()
		err = fault.BadUpstream
	}
	if err != nil {
		return func([]byte) error { return err }
	}
	return func(id []byte) error {
		body, response := message, *r.response
		if exchange.ShapeOf(r.response) == exchange.JSON {
			body = inPlaceOfOwn(message, id)
		}
		response.Header = r.response.Header.Clone()
		dropOneCallers(response.Header)
		response.Header.Del("Content-Length")
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return &refusedFeed{upstream: r.upstream, response: &response}
	}
}

// inPlaceOfOwn returns the answer to a request of berth's own as one to the request
// with this id. A message without that id, or none at all, stays as it is.
func inPlaceOfOwn(message, id []byte) []byte {
	if a, err := mcp.PeekAnswer(message, false); err != nil || string(a.ID) != outbound.OwnID {
		return message
	}
	return mcp.WithID(message, id)
}

// dropOneCallers removes from an answer that several are given what is meant for one.
func dropOneCallers(h wire.Header) {
	h.Del("Set-Cookie")
	h.Del(mcp.HeaderSession)
}

func dropRefusal(err error) {
	if refused, ok := errors.AsType[*refusedFeed](err); ok {
		refused.drop()
	}
}
