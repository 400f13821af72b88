package inquiry

import (
	"slices"
	"strings"

	"berth/internal/jsonobject"
	"berth/internal/mcp"
	"berth/internal/recall"

	"github.com/go-json-experiment/json/jsontext"
)

// Declared are the capabilities by which a client lets servers ask it (2026-07-28 and 2025-11-25,
// "Client Capabilities"), apart by blanks. "" is not known, and lets them ask for anything.
type Declared string

// The names that a Declared may hold.
const (
	asksForForm   = "elicitation.form"
	asksForURL    = "elicitation.url"
	asksToSample  = "sampling"
	asksWithTools = "sampling.tools"
	asksForRoots  = "roots"
	asksNothing   = "none" // stands alone
)

// Methods by which servers ask clients.
const (
	methodElicit    = "elicitation/create"
	methodSample    = "sampling/createMessage"
	MethodListRoots = "roots/list"
)

// declaration is what was read of the capabilities that text is.
type declaration struct {
	text     string
	declared Declared
}

// declarations are those that were read last: clients declare the same with each call.
var declarations = recall.New[declaration](1 << 6)

// maxDeclared is how long capabilities are that are kept, at most.
const maxDeclared = 1 << 10

// DeclaredIn is what a client declares with these capabilities, a raw JSON object.
func DeclaredIn(capabilities []byte) Declared {
	place := declarations.Place(uint64(len(capabilities)), recall.WordAt(capabilities, len(capabilities)/2))
	if known := place.Load(); known != nil && known.text == string(capabilities) {
		return known.declared
	}
	declared := readDeclared(capabilities)
	if len(capabilities) <= maxDeclared && declarations.IsFree(place) {
		place.Store(&declaration{string(capabilities), declared})
	}
	return declared
}

func readDeclared(capabilities []byte) Declared {
	var names []string
	err := jsonobject.Each(capabilities, nil, func(name []byte, value jsontext.Value) error {
		if kind := value.Kind(); kind == 'n' || kind == 'f' {
			return nil
		}
		switch string(name) {
		case "elicitation":
			names = append(names, modes(value)...)
		case "sampling":
			names = append(names, asksToSample)
			if has(value, "tools") {
				names = append(names, asksWithTools)
			}
		case "roots":
			names = append(names, asksForRoots)
		}
		return nil
	})
	switch {
	case err != nil:
		return ""
	case len(names) == 0:
		return asksNothing
	}
	return Declared(strings.Join(names, " "))
}

func modes(elicitation jsontext.Value) (names []string) {
	url := has(elicitation, "url")
	if url {
		names = append(names, asksForURL)
	}
	if !url || has(elicitation, "form") {
		names = append(names, asksForForm)
	}
	return names
}

// has reports whether value is an object with this member. What cannot be read says nothing.
func has(value jsontext.Value, member string) bool {
	found, _ := jsonobject.Loose(value, member)
	return found[0] != nil && found[0].Kind() != 'n'
}

// Unaskable returns what a server's request is refused with that no client can be asked: it is none that clients answer in rounds
// (2026-07-28, multi round-trip requests, "Supported Requests"), or not IsClear. nil: one can.
func Unaskable(request []byte) *mcp.Error {
	switch {
	case asked(request) == "":
		return mcp.ErrNoSuchMethod
	case !IsClear(request):
		return errUnclear
	}
	return nil
}

var errUnclear = &mcp.Error{Code: mcp.CodeInvalidParams, Message: "Invalid params: no client could read what is asked"}

// Lacks returns the capabilities that a server's request needs and the client has not, as
// ClientCapabilities spells them; nil for none.
func (d Declared) Lacks(request []byte) map[string]any {
	needs := asked(request)
	switch {
	case d == "" || needs == "" || slices.Contains(strings.Fields(string(d)), needs):
		return nil
	}
	outer, inner, nested := strings.Cut(needs, ".")
	if !nested {
		return map[string]any{outer: struct{}{}}
	}
	return map[string]any{outer: map[string]any{inner: struct{}{}}}
}

// Join adds capabilities to all, which may be nil, member by member, and returns that. Both are as ClientCapabilities spells them.
func Join(all, more map[string]any) map[string]any {
	if all == nil {
		all = map[string]any{}
	}
	for name, value := range more {
		known, isNested := all[name].(map[string]any)
		if inner, nests := value.(map[string]any); nests {
			all[name] = Join(known, inner)
		} else if !isNested {
			all[name] = value
		}
	}
	return all
}

func asked(request []byte) string {
	members, err := jsonobject.Loose(request, "method", "params")
	params := members[1]
	method, _ := jsonobject.Text(members[0])
	switch {
	case err != nil:
		return ""
	case method == methodElicit && isURLMode(params):
		return asksForURL
	case method == methodElicit:
		return asksForForm
	case method == methodSample && (has(params, "tools") || has(params, "toolChoice")):
		return asksWithTools
	case method == methodSample:
		return asksToSample
	case method == MethodListRoots:
		return asksForRoots
	}
	return ""
}

func isURLMode(params jsontext.Value) bool {
	members, _ := jsonobject.Loose(params, "mode")
	mode, _ := jsonobject.Text(members[0])
	return mode == "url"
}

// Refusal returns what a legacy client answers to a request that it has not declared to answer; nil
// if it has (2025-11-25, elicitation, "Error Handling").
func (d Declared) Refusal(request []byte) *mcp.Error {
	for capability := range d.Lacks(request) {
		if strings.Contains(string(d), capability) {
			return &mcp.Error{Code: mcp.CodeInvalidParams, Message: "the client has not declared that it can be asked so"}
		}
		return &mcp.Error{Code: mcp.CodeMethodNotFound, Message: "the client has not declared that it has this method"}
	}
	return nil
}

// ErrLacks refuses what needs undeclared capabilities (2026-07-28, basic, "Error Codes").
func ErrLacks(capabilities map[string]any) *mcp.Error {
	return &mcp.Error{
		Status: 400, Code: mcp.CodeMissingCapability, Message: "Missing required client capability",
		Data: map[string]any{"requiredCapabilities": capabilities},
	}
}
