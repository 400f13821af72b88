package mcp

import (
	"bytes"
	"sync/atomic"

	"berth/internal/jsonobject"
	"berth/internal/recall"
)

// self is what a client says of itself: its version, its name and what it is capable of, with which the `_meta` of each of its
// messages begins. What was read of such bytes is read of the same bytes again, without a look at what they say.
type self struct {
	text     string // from the first member on, up to behind the capabilities
	seen     jsonobject.Set
	count    int
	declares bool // the Tasks extension

	version, capabilities part
	plain                 bool // the version
}

// part is where a value lies in text; the zero part is none.
type part struct{ from, to int }

// of is the value in data, which begins with text.
func (p part) of(data []byte) []byte {
	if p.to == 0 {
		return nil
	}
	return data[p.from:p.to:p.to]
}

// partOf is where value lies in data, of which it is a part; where the same bytes come before it, they do as well.
func partOf(data, value []byte) part {
	if value == nil {
		return part{}
	}
	from := bytes.Index(data, value)
	return part{from, from + len(value)}
}

// selves are those that were read last.
var selves = recall.New[self](1 << 6)

// maxSelf is how long a self is that is kept, at most.
const maxSelf = 1 << 10

// placeOfSelf is where the self is to be that data begins with.
func placeOfSelf(data []byte) *atomic.Pointer[self] {
	const name, after = 104, 144 // where clients differ, as they write it as a rule
	return selves.Place(recall.WordAt(data, name), recall.WordAt(data, after))
}

// recall passes over a self that is known, in a `_meta` that was just entered.
func (c *Call) recall(r *messageReader, o *jsonobject.Object) {
	data := r.Text()[r.At():]
	known := placeOfSelf(data).Load()
	if known == nil || !r.Again(known.text) {
		return
	}
	o.Seen, o.Count = known.seen, known.count
	c.raw.version, c.hasMetaVersion = known.version.of(data), o.Seen&memberMetaVersion != 0
	c.plain.version = known.plain
	c.capabilities, c.hasCapabilities, c.DeclaresTasks = known.capabilities.of(data), true, known.declares
}

// remember keeps the self that was read from there on, if nothing else stands in it.
func (c *Call) remember(r *messageReader, o *jsonobject.Object, from int) {
	const own = memberMetaVersion | memberMetaClient | memberMetaCapabilities
	data := r.Text()[from:]
	place := placeOfSelf(data)
	switch data = data[:r.At()-from]; {
	case r.Err() != nil, o.Fault != nil, o.Seen&^own != 0, r.HasOthers(o): // it is faulty, or more than that
		return
	case !c.hasCapabilities, !r.IsASCII(), len(data) > maxSelf:
		return
	case !selves.IsFree(place):
		return
	}
	place.Store(&self{
		string(data), o.Seen, o.Count, c.DeclaresTasks,
		partOf(data, c.raw.version), partOf(data, c.capabilities), c.plain.version,
	})
}
