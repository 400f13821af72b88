package head

import (
	"bytes"
	"slices"
	"strings"

	"berth/internal/wire"
)

// spellings are others that clients and servers are known for.
var spellings = []string{"ETag", "Last-Event-ID", "MCP-Protocol-Version", "MCP-Session-Id", "X-Request-ID"}

// own are the usual names whose values are a caller's or a request's own.
var own = []string{
	"Authorization", "Baggage", "Cookie", "Forwarded", "Last-Event-Id", "Mcp-Name", "Mcp-Session-Id", "Referer", "Traceparent", "Tracestate",
	"X-Forwarded-For", "X-Request-Id",
}

// slot is a spelling, and the name that it is.
type slot struct {
	spelt, name string
	number      wire.Usual
	frames      framingField // nil: the field says neither where the message ends nor whom it is for
	recurs      bool         // messages of many say the same: the name is none of own
}

// slots are a power of two, and so many that a spelling is nearly always found where it is looked for first.
const slots = 512

// spelt are the spellings of the names that most messages bear. One that is spelt as there, in lower case, or as in spellings, is found
// as it lies in its head: it is a token, and canonical is how it stands there.
var spelt = func() (table [slots]slot) {
	add := func(text, name string, number wire.Usual) {
		at := slotOf([]byte(text))
		for table[at].spelt != "" && table[at].spelt != text {
			at = (at + 1) % slots
		}
		table[at] = slot{text, name, number, framing([]byte(name)), !slices.Contains(own, name)}
	}
	for number, name := range wire.UsualNames() {
		add(name, name, number)
		add(strings.ToLower(name), name, number)
	}
	for _, text := range spellings {
		name := wire.CanonicalName(text)
		add(text, name, wire.UsualOf(name))
	}
	return table
}()

// slotOf is where a name is looked for, which has one character at least.
func slotOf(name []byte) int {
	n := len(name)
	return (n + 5*int(name[0]) + 17*int(name[n-1]) + 7*int(name[n/2])) % slots
}

// usualName returns the name at the beginning of a field line, if it is a usual one, and where it ends; nil if not.
func usualName(line []byte) (name *slot, end int) {
	end = bytes.IndexByte(line, ':')
	if end <= 0 {
		return nil, 0
	}
	for at := slotOf(line[:end]); ; at = (at + 1) % slots {
		switch s := &spelt[at]; s.spelt {
		case string(line[:end]):
			return s, end
		case "":
			return nil, 0
		}
	}
}
