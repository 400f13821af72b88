package eras

import (
	"berth/internal/jsonobject"
	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"

	"github.com/go-json-experiment/json/jsontext"
)

// metaLogLevel is a member of `_meta` that a modern request bears for its server alone (2026-07-28, basic, "_meta").
const metaLogLevel = "io.modelcontextprotocol/logLevel"

// Client is what a modern request says of who sends it. What it aliases is the request's body.
type Client struct {
	Version      string // that the request is of; "": it says none
	Info         []byte // raw JSON; nil: it says none
	Capabilities []byte // raw JSON object; nil: it says none
	LogLevel     string // least severe messages that it wants; "": none

	asks     []byte           // as AsksClient has it; nil: nobody has asked
	declares inquiry.Declared // "": nobody has asked
}

// ClientOf reads who sends a single request that Peek takes.
func ClientOf(body []byte) Client {
	meta := jsonobject.At(body, "params", "_meta")
	if meta.Kind() != '{' {
		return Client{}
	}
	values, err := jsonobject.Loose(meta, mcp.MetaVersion, mcp.MetaClientInfo, mcp.MetaCapabilities, metaLogLevel)
	if err != nil {
		return Client{}
	}
	var c Client
	c.Version, _ = jsonobject.Text(values[0])
	if values[1].Kind() == '{' {
		c.Info = values[1]
	}
	if values[2].Kind() == '{' {
		c.Capabilities = values[2]
	}
	c.LogLevel, _ = jsonobject.Text(values[3])
	return c
}

// Declares is what servers may ask the client for; "": it says none.
func (c *Client) Declares() inquiry.Declared {
	if c.declares == "" && c.Capabilities != nil {
		c.declares = inquiry.DeclaredIn(c.Capabilities)
	}
	return c.declares
}

// AsksClient are the members of ClientCapabilities by which a legacy server may ask its client,
// as one object in a fixed order: two clients with equal ones may have one session after another.
func (c *Client) AsksClient() []byte {
	if c.asks == nil {
		c.asks = c.readAsks()
	}
	return c.asks
}

func (c *Client) readAsks() []byte {
	names := []string{"elicitation", "roots", "sampling"}
	values, err := jsonobject.Loose(c.Capabilities, names...)
	out := []byte{'{'}
	for i, value := range values {
		if err != nil || value == nil || value.Kind() != '{' {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		compact := jsontext.Value(append([]byte(nil), value...))
		if compact.Compact() != nil {
			continue
		}
		out = append(append(append(out, '"'), names[i]...), `":`...)
		out = append(out, compact...)
	}
	return append(out, '}')
}

// Asked reports whether the client may be asked anything.
func (c *Client) Asked() bool { return len(c.AsksClient()) > len("{}") }

// LegacyForm returns a modern request as a server of the legacy era takes it: under this id, without
// what it says of its client, of rounds before, and of tasks, with this raw token in place of its own
// progressToken. Every other byte stays. The error is an *Error.
func LegacyForm(body, id, token []byte) ([]byte, error) {
	meta := jsonobject.Patch{{Name: mcp.MetaVersion}, {Name: mcp.MetaClientInfo}, {Name: mcp.MetaCapabilities}, {Name: metaLogLevel}}
	if token != nil {
		meta = append(meta, jsonobject.Change{Name: mcp.MemberProgressToken, Value: token})
	}
	p := jsonobject.Patch{{Name: "id", Value: id}, {Name: "params", Within: jsonobject.Patch{
		{Name: "_meta", Within: meta}, {Name: mcp.MemberInputResponses}, {Name: mcp.MemberRequestState}, {Name: mcp.MemberTask},
	}}}
	return mcp.PatchRequest(p, body)
}

// InitializeFor returns the initialize of a legacy session in a client's name.
func InitializeFor(id []byte, version string, capabilities, info []byte) []byte {
	if info == nil {
		info = ownInfoJSON
	}
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	out = append(append(append(out, `,"method":"initialize","params":{"protocolVersion":"`...), version...), `","capabilities":`...)
	out = append(append(append(append(out, capabilities...), `,"clientInfo":`...), info...), `}}`...)
	return out
}
