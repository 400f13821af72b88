package task

import (
	"maps"

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
	Own map[string][]string

	// Session is what the upstream calls the session that the call is made in; "": none.
	Session string

	// Principal is whose task it is sent for. Not kept: the record has it.
	Principal string

	// Room is what of the answer may be in memory; nil: any of it.
	Room *Room

	Envelope // of whoever made the call, or answered for its next round
}

// Envelope is what goes upstream around a body: in it are credentials.
type Envelope struct {
	Host   string              // Host header of the client's request
	Query  string              // of its URL
	Header map[string][]string // beside Call.Own

	// Bare says that nothing in it could be a credential, so that it may be stored as it is.
	Bare bool
}

// Headers are all that go upstream.
func (c *Call) Headers() *wire.Header {
	lists := maps.Clone(c.Header)
	if lists == nil {
		lists = map[string][]string{}
	}
	maps.Copy(lists, c.Own)
	all := wire.FromLists(lists)
	if c.Session != "" {
		all.Set(mcp.HeaderSession, c.Session)
	}
	return all
}

// Size is how many bytes a call keeps.
func (c *Call) Size() int64 {
	n := len(c.Body) + len(c.Session) + len(c.Host) + len(c.Query)
	for _, headers := range []map[string][]string{c.Own, c.Header} {
		for name, values := range headers {
			for _, value := range values {
				n += len(name) + len(value)
			}
		}
	}
	return int64(n)
}
