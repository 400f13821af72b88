package head

import (
	"net/url"

	"berth/internal/wire"
)

// Chunked, and no length at all.
const (
	Chunked  = -1
	NoLength = -2
)

// Message is what requests and answers have in common.
type Message struct {
	Header *wire.Header // the parser's
	Minor  int          // of HTTP/1
	Length int64        // of the body, as the fields say; or Chunked, or NoLength
	Close  bool         // the connection ends with this message, as far as its sender is concerned
}

// Request is the head of a request. Its Length is never NoLength: a request that announces no body has none.
type Request struct {
	Message
	Method string
	Target string
	URL    *url.URL // Target's; the parser's
	Host   string   // Target's authority if it has one, or what Host says, which is not in Header
}

// Response is the head of an answer.
type Response struct {
	Message
	Status int
	Phrase string // as it came
}
