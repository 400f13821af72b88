package task

import (
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// Call is a request of a client, as it can be sent upstream.
type Call struct {
	Body []byte // the JSON-RPC request as it came

	// ID is the raw JSON-RPC id of the round that is sent. Not kept: each has its own.
	ID []byte

	// Own are the headers that belong to this call alone and are no secret: what mirrors
	// the body, what says how it is to be read. They stay what they are in later rounds.
	Own Pairs

	// Session is what the upstream calls the session that the call is made in; "": none.
	Session string

	// Principal is whose task it is sent for. Not kept: the record has it.
	Principal string

	// Sent are all headers as they go upstream with the first round; nil: they are made of the rest. Not kept: whoever sends
	// them has them.
	Sent *wire.Header

	// Renewal is what its caller bears by now; nil: the same. Not kept.
	Renewal exchange.Renewal

	// Until is when its task expires; zero: nobody says. Not kept: the record has it.
	Until time.Time

	// Leaves is as that of exchange.Request. Not kept.
	Leaves <-chan struct{}

	// Room is what of the answer may be in memory; nil: any of it.
	Room *Room

	Envelope // of whoever made the call, or answered for its next round
}

// Envelope is what goes upstream around a body: in it are credentials.
type Envelope struct {
	Host   string // Host header of the client's request
	Query  string // of its URL
	Header Pairs  // beside Call.Own
	Unsent string // digest of exchange.Unsent

	// Bare says that nothing in it could be a credential, so that it may be stored as it is.
	Bare bool
}

// Headers are all that go upstream, its caller's from then on. What is the call's own stands for all that is said of it.
func (c *Call) Headers() *wire.Header {
	if all := c.Sent; all != nil {
		c.Sent = nil
		return all
	}
	all := new(wire.Header)
	all.Grow((len(c.Header)+len(c.Own))/2 + spareHeaders)
	for i := 0; i < len(c.Header); i += 2 {
		if !c.Own.has(c.Header[i]) {
			all.Add(c.Header[i], c.Header[i+1])
		}
	}
	for i := 0; i < len(c.Own); i += 2 {
		all.Add(c.Own[i], c.Own[i+1])
	}
	if c.Session != "" {
		all.Set(mcp.HeaderSession, c.Session)
	}
	return all
}

// spareHeaders is how many are added on the way upstream, at most.
const spareHeaders = 2

// Size is how many bytes a call keeps.
func (c *Call) Size() int64 {
	return int64(len(c.Body) + len(c.Session) + len(c.Host) + len(c.Query) + len(c.Unsent) + c.Own.size() + c.Header.size())
}
