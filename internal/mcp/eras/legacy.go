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

	legacy   []byte           // as LegacyCapabilities has it; nil: nobody has asked
	asked    bool             // with legacy: there is one among them by which a server may ask its client
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

// LegacyCapabilities are the ClientCapabilities that a legacy server is told of, as one object in a fixed order: two clients with equal
// ones may have one session after another. The Tasks extension is not among them, for the bridge is the server of that.
func (c *Client) LegacyCapabilities() []byte {
	if c.legacy == nil {
		c.legacy, c.asked = c.readCapabilities()
	}
	return c.legacy
}

// Asked reports whether the client may be asked anything.
func (c *Client) Asked() bool {
	c.LegacyCapabilities()
	return c.asked
}

// legacyCapabilities are the members of LegacyCapabilities, those first by which a server may ask its client.
var legacyCapabilities = [...]string{"elicitation", "roots", "sampling", "experimental", "extensions"}

const thatAsk = 3 // of legacyCapabilities

func (c *Client) readCapabilities() (all []byte, asked bool) {
	values, err := jsonobject.Loose(c.Capabilities, legacyCapabilities[:]...)
	out := []byte{'{'}
	for i, value := range values {
		if err != nil || value == nil || value.Kind() != '{' {
			continue
		}
		capability := legacyCapability(legacyCapabilities[i], value)
		if capability == nil {
			continue
		}
		asked = asked || i < thatAsk
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), legacyCapabilities[i]...), `":`...)
		out = append(out, capability...)
	}
	return append(out, '}'), asked
}

// legacyCapability is a capability without blanks; nil is none.
func legacyCapability(name string, value jsontext.Value) []byte {
	own := append([]byte(nil), value...)
	if name == "extensions" {
		left, err := jsonobject.Patch{{Name: mcp.TasksExtension}}.Apply(own)
		if err != nil {
			return nil
		}
		own = left
	}
	compact := jsontext.Value(own)
	if compact.Compact() != nil || name == "extensions" && len(compact) == len("{}") {
		return nil
	}
	return compact
}

// LegacyForm returns a modern request as a server of the legacy era takes it: under this id, without
// what it says of its client, of rounds before, and of tasks, with this raw token, nil: none, in place of its own
// progressToken. Every other byte stays. The error is an *Error.
func LegacyForm(body, id, token []byte) ([]byte, error) {
	meta := jsonobject.Patch{{Name: mcp.MetaVersion}, {Name: mcp.MetaClientInfo}, {Name: mcp.MetaCapabilities}, {Name: metaLogLevel},
		{Name: mcp.MemberProgressToken, Value: token}}
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
