package polls

import (
	"crypto/sha256"
	"encoding/binary"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
)

// digest is equal for polls that ask the same in the same way.
type digest [sha256.Size]byte

// mayShare reports whether c is a poll that several may share an answer to. It comes as JSON,
// whichever way the upstream gave it.
func mayShare(x *inbound.Call) bool {
	c := x.Single()
	if c == nil || c.Kind != mcp.KindRequest || c.Method != mcp.MethodGetTask || !c.IsTask() {
		return false
	}
	return x.HTTP.Header.Accepts(wire.JSON)
}

// digest digests whatever may bear on the answer: the body but for what is a request's own,
// all headers but for those that are a request's own, and where the request comes from, as its
// upstream is told. Credentials may stand in headers that berth does not know. What is over
// asks nothing.
func (p *Poll) digest() digest {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.call
	if c == nil {
		return digest{}
	}
	asks := make([]byte, 0, 2<<10)
	add := func(part string) {
		asks = append(binary.BigEndian.AppendUint64(asks, uint64(len(part))), part...)
	}
	add(p.owner)
	add(c.HTTP.Host)
	add(c.HTTP.URL.RawQuery)
	var room [inbound.UsualFields]*wire.Field
	for _, f := range inbound.Sorted(room[:0], c.HTTP.Header, inbound.IsOfOneRequest) {
		add(f.Name)
		add(f.Value)
	}
	add("") // the name of no header
	for _, origin := range c.Origins() {
		add(origin)
	}
	add("") // the name of no header, either: here the body begins
	return sha256.Sum256(mcp.AppendQuestion(asks, c.Body))
}
