package head

import (
	"bytes"
	"slices"
	"strings"
)

// usual are the names that most messages bear. One that is spelt as here, in lower case, or as in spellings, is found as it
// lies in its head: it is a token, and canonical is how it stands here.
var usual = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Authorization",
	"Baggage", "Cache-Control", "Connection", "Content-Length", "Content-Type", "Cookie", "Date", "Etag", "Forwarded", "Host", "Keep-Alive",
	"Last-Event-Id", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id", "Origin", "Referer", "Sec-Fetch-Dest",
	"Sec-Fetch-Mode", "Sec-Fetch-Site", "Server", "Traceparent", "Tracestate", "Transfer-Encoding", "User-Agent", "Vary", "Via",
	"X-Accel-Buffering", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Powered-By", "X-Request-Id",
}

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
	frames      heed // nil: the field says neither where the message ends nor whom it is for
	recurs      bool // messages of many say the same: the name is none of own
}

// slots are a power of two, and so many that a spelling is nearly always found where it is looked for first.
const slots = 512

var spelt = func() (table [slots]slot) {
	add := func(text string) {
		at := slotOf([]byte(text))
		for table[at].spelt != "" && table[at].spelt != text {
			at = (at + 1) % slots
		}
		name := named(text)
		table[at] = slot{spelt: text, name: name, frames: framing([]byte(name)), recurs: !slices.Contains(own, name)}
	}
	for _, name := range usual {
		add(name)
		add(strings.ToLower(name))
	}
	for _, name := range spellings {
		add(name)
	}
	return table
}()

func named(text string) string {
	for _, name := range usual {
		if strings.EqualFold(name, text) {
			return name
		}
	}
	return ""
}

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
