package subscribe

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

// Refusal is an upstream's answer to a subscription that is none. It is an error
// to whoever wanted one.
type Refusal struct {
	Upstream *routing.Upstream
	Response *wire.Response // nil if the refusal came as an event
	Message  []byte         // the error response in that event
}

// Error implements error.
func (*Refusal) Error() string { return "proxy: the upstream refused the subscription" }

// readAhead reads a refusal as far as outbound.MaxRefusal, and closes one that is no longer: what asked for it ends before
// somebody is told. What broke off is as long as it has come.
func readAhead(response *wire.Response) *wire.Response {
	body := response.Body
	begin, err := io.ReadAll(io.LimitReader(body, outbound.MaxRefusal))
	if err == nil && len(begin) == outbound.MaxRefusal {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(begin), body), body}
		return response
	}
	_ = body.Close()
	response.Header.Del("Content-Length")
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(begin)), int64(len(begin))
	return response
}

// drop ends the exchange of a refusal that nobody is told of; nil is none.
func (r *Refusal) drop() {
	if r != nil && r.Response != nil {
		r.Response.Body.Close()
	}
}

func dropRefusal(err error) {
	refusal, _ := errors.AsType[*Refusal](err)
	refusal.drop()
}

// passing reports whether the refusal says nothing about the subscription: that of a
// gateway whose server is away, of a server that has just begun, or has too much to do.
func (r *Refusal) passing() bool {
	if r.Response == nil || r.Response.Status == wire.StatusNotImplemented {
		return false
	}
	return r.Response.Status == wire.StatusTooManyRequests || r.Response.Status/100 == 5
}

// repeat reads the refusal of a request of berth's own, as far as outbound.MaxRefusal, tells
// crossed if it is the answer to another one, and returns a function that words it anew, for
// the request with this JSON-RPC id.
func (r *Refusal) repeat(crossed func()) func(id []byte) error {
	if r.Response == nil {
		return func(id []byte) error { return &Refusal{Upstream: r.Upstream, Message: inPlaceOfOwn(r.Message, id)} }
	}
	defer r.drop()
	kept := r.Response.Kept()
	message, err := io.ReadAll(io.LimitReader(r.Response.Body, outbound.MaxRefusal))
	if err == nil && exchange.IsCrossed(r.Response, message, []byte(outbound.OwnID)) {
		crossed()
		err = fault.BadUpstream
	}
	if err != nil {
		return func([]byte) error { return err }
	}
	return func(id []byte) error {
		body, response := message, kept.Kept()
		if exchange.ShapeOf(response) == exchange.JSON {
			body = inPlaceOfOwn(message, id)
		}
		dropOneCallers(response.Header)
		response.Header.Del("Content-Length")
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return &Refusal{Upstream: r.Upstream, Response: response}
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
func dropOneCallers(h *wire.Header) {
	h.Del("Set-Cookie")
	h.Del(mcp.HeaderSession)
}
