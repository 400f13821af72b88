package head

import (
	"strings"

	"berth/internal/wire"
)

// known are lines of a head, with all that was found of those that may recur. Of one that may be a caller's own nothing but its name
// is among them.
type known struct {
	text   string // of the lines that may recur, one behind the other; of others the name, with what stands before a value
	lines  []line
	fields wire.Header // of these, but for that of a request's Host; what others say is left out

	isWhole bool  // these are all lines of a head, and only where somebody's own stand another one of its kind may differ
	own     []int // the lines that may not recur
	frame   frame // of the whole head

	ofRequest bool
	host      string // what a request's Host says
	hostLine  int    // is that; -1: none is
	hostFits  bool   // it was found to be one
}

// line is where one of them lies in the text.
type line struct {
	usual             *slot
	begin, value, end uint32 // end is behind the line feed, or where a value begins that is left out
	run               int    // the first one that did not stand right behind this one, or those that did; this one: it may not recur
	field             int    // how many fields the lines before have
	frames            int    // the first line from here on that frames, or one behind all
}

// Of a head that is longer the next one is compared with no line.
const (
	mostKept  = 2 << 10 // bytes of the text
	mostLines = 128     // lines in all
	mostOwn   = 8       // lines that may not recur, of a whole head
)

// give adds the fields of some lines to a header.
func (k *known) give(h *wire.Header, from, to int) {
	end := len(k.fields.Fields())
	if to < len(k.lines) {
		end = k.lines[to].field
	}
	h.AppendSome(&k.fields, k.lines[from].field, end)
}

// add adds a line, which has one blank behind its colon.
func (k *known) add(text *strings.Builder, usual *slot, says []byte) {
	begin := uint32(text.Len())
	text.Write(says)
	k.lines = append(k.lines, line{usual: usual, begin: begin, value: begin + uint32(len(usual.spelt)) + 2, end: uint32(text.Len())})
}

// addOwn adds a line that may be a caller's own, without what it says.
func (k *known) addOwn(text *strings.Builder, usual *slot) {
	text.WriteString(usual.spelt)
	text.WriteString(": ")
	at := len(k.lines)
	k.lines, k.own = append(k.lines, line{usual: usual, end: uint32(text.Len()), run: at}), append(k.own, at)
}

// complete makes the fields of lines that stood so.
func (k *known) complete(text string, parts []part) {
	k.text, k.hostLine = text, -1
	for _, part := range parts {
		for i := part.from; i < part.to; i++ {
			k.lines[i].run = part.to
		}
	}
	for i, frames := len(k.lines)-1, len(k.lines); i >= 0; i-- {
		if k.lines[i].usual.frames != nil {
			frames = i
		}
		k.lines[i].frames = frames
	}
	for i := range k.lines {
		l := &k.lines[i]
		l.field = len(k.fields.Fields())
		value := ""
		if l.run != i {
			value = text[l.value : l.end-2]
		}
		if k.ofRequest && l.usual.name == "Host" {
			if l.run != i {
				k.host, k.hostLine = value, i
			}
			continue
		}
		k.fields.Append(wire.Field{Name: l.usual.name, Value: value, Judged: true, Usual: l.usual.number})
	}
}

// empty lets go of all lines, but not of the room for others.
func (k *known) empty(ofRequest bool) {
	k.fields.Forget()
	*k = known{lines: k.lines[:0], own: k.own[:0], fields: k.fields, ofRequest: ofRequest, hostLine: -1}
}
