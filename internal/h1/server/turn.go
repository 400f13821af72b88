package server

import (
	"sync"

	"berth/internal/cohort"
	"berth/internal/h1/grammar"
	"berth/internal/h1/head"
	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// turn is one request and its answer. What it is made of serves others later.
type turn struct {
	parser  head.Parser
	request wire.Request
	body    requestBody
	answer  answer
}

var turns = sync.Pool{New: func() any { return &turn{answer: answer{header: new(wire.Header)}} }}

// Gates of requests: before one is served, before its answer is sent, and before the next one is sought.
var heard, served, resting cohort.Gate

// next is what follows on a turn.
type next uint8

const (
	last    next = iota // the connection ends
	another             // it may have another one
	held                // who holds the answer goes on with the connection
)

// serve reads a request, and answers it.
func (t *turn) serve(c *conn) next {
	asked, err := t.parser.Request(&c.in, c.server.options.MaxHead, c.headWaits)
	if err != nil {
		c.refuse(err)
		return t.drop()
	}
	heard.Pass()
	t.begin(c, asked)
	if asked.Header.Has("Expect") && !t.expect(asked) {
		t.answer.finish()
		c.linger()
		return t.drop()
	}
	d := departures.Next()
	d.conn, d.whole = c, asked.Length == 0
	t.body.departure, t.answer.departure = d, d
	t.request.WithContext(d)
	if c.departure.Store(d); c.state.Load() == closed { // whoever closed it may have missed this one
		d.end()
	}
	whole := c.server.options.Handler.Serve(&t.answer, &t.request)
	if h := t.answer.hold; h != nil {
		if !h.leave(t) {
			return held
		}
		whole = h.whole
	}
	return t.over(c, whole)
}

// drop ends a turn that nobody has served.
func (t *turn) drop() next {
	t.forget()
	turns.Put(t)
	return last
}

// over ends a turn that is served.
func (t *turn) over(c *conn, whole bool) next {
	d := t.answer.departure
	d.end()
	d.stopWatching()
	c.departure.Store(nil)
	served.Pass()
	again := t.end(c, whole)
	t.forget()
	turns.Put(t)
	if again {
		return another
	}
	return last
}

func (t *turn) begin(c *conn, asked *head.Request) {
	length := asked.Length
	t.body.conn, t.body.ended = c, length == 0
	switch length {
	case 0:
		c.in.Release() // the handler may take long
	case head.Chunked:
		length, t.body.chunked = -1, true
		t.body.reader.Chunks(&c.in, grammar.Misplaced)
	default:
		t.body.reader.Length(&c.in, length)
	}
	t.answer.begin(c, asked, &t.body)
	t.request = wire.Request{
		Method: asked.Method, URL: asked.URL, Host: asked.Host, Header: asked.Header,
		Body: &t.body, ContentLength: length, ProtoMajor: 1, ProtoMinor: asked.Minor,
		RemoteAddr: c.remote, Peer: c.peer, TLS: c.tls,
	}
}

// expect heeds what the client expects (RFC 9110, 10.1.1), or answers that it cannot be met.
func (t *turn) expect(asked *head.Request) bool {
	expected := asked.Header.Get("Expect")
	switch {
	case httpguts.HeaderValuesContainsToken([]string{expected}, "100-continue"):
		t.body.continues = asked.Minor > 0 && asked.Length != 0
	case expected != "":
		t.answer.closing = true
		t.answer.WriteHeader(417)
		return false
	}
	return true
}

// end sends what is left of the answer. It reports whether the connection may have another request.
func (t *turn) end(c *conn, whole bool) bool {
	if !whole {
		t.answer.abort()
		return false
	}
	reusable := t.answer.finish()
	switch {
	case t.answer.err != nil:
		return false
	case !reusable:
		if c.in.Buffered() > 0 || !t.body.reader.Whole() {
			c.linger()
		}
		return false
	}
	return true
}

// forget lets go of what belongs to one request.
func (t *turn) forget() {
	t.parser.Forget()
	t.request = wire.Request{}
	t.body = requestBody{}
	t.answer.forget()
}
