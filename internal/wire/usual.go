package wire

import (
	"iter"
	"slices"
)

// Usual is the number of a name that most messages bear. 0 is none's.
type Usual uint8

// usual are these names. Their numbers begin with 1.
var usual = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Authorization",
	"Baggage", "Cache-Control", "Connection", "Content-Length", "Content-Type", "Cookie", "Date", "Etag", "Forwarded", "Host", "Keep-Alive",
	"Last-Event-Id", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id", "Origin", "Referer", "Sec-Fetch-Dest",
	"Sec-Fetch-Mode", "Sec-Fetch-Site", "Server", "Traceparent", "Tracestate", "Transfer-Encoding", "User-Agent", "Vary", "Via",
	"X-Accel-Buffering", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Powered-By", "X-Request-Id",
}

// UsualNames are the names, and their numbers.
func UsualNames() iter.Seq2[Usual, string] {
	return func(yield func(Usual, string) bool) {
		for i, name := range usual {
			if !yield(Usual(i+1), name) {
				return
			}
		}
	}
}

// UsualOf returns a name's number.
func UsualOf(name string) Usual { return Usual(slices.Index(usual, name) + 1) }

// Usuals are some of the usual names, by their numbers. 0 is not among them: whoever treats a few names apart looks at such a field's own.
type Usuals [256]bool

// UsualsThat returns those of which something is so.
func UsualsThat(is func(name string) bool) (some Usuals) {
	for number, name := range UsualNames() {
		some[number] = is(name)
	}
	return some
}
