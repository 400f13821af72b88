package mirrored

import (
	"slices"

	"berth/internal/h1/grammar"
	"berth/internal/jsonobject"
	"berth/internal/jsonscan"
	"berth/internal/mcp"
	"berth/internal/wire"

	"github.com/go-json-experiment/json/jsontext"
)

// Argument is an argument of a tool that a header repeats, by an x-mcp-header in the tool's schema
// (2026-07-28, Streamable HTTP, "Schema Extension").
type Argument struct {
	Header string   // in full
	path   []string // of the property, from the arguments on
}

// maxSchemaDepth bounds how deep annotations are looked for.
const maxSchemaDepth = 16

// Add notes, by tool, what the result of a tools/list says of headers.
func Add(tools map[string][]Argument, result []byte) {
	list := jsonobject.At(result, "tools")
	if list.Kind() != '[' {
		return
	}
	s := jsonscan.New(list)
	for s.Open('['); s.Element() && s.Kind() == '{'; {
		values, err := jsonobject.Loose(s.Value(), "name", "inputSchema")
		name, ok := jsonobject.Text(values[0])
		if err != nil || !ok {
			continue
		}
		if mirrors := argumentsIn(values[1], nil); len(mirrors) > 0 {
			tools[name] = mirrors
		} else {
			delete(tools, name)
		}
	}
}

// argumentsIn is what a schema says of headers. What no header can carry, and numbers, which need not be integers, have none.
func argumentsIn(schema jsontext.Value, path []string) (mirrors []Argument) {
	if schema.Kind() != '{' || len(path) > maxSchemaDepth {
		return nil
	}
	properties := jsonobject.At(schema, "properties")
	if properties.Kind() != '{' {
		return nil
	}
	_ = jsonobject.Each(properties, nil, func(name []byte, property jsontext.Value) error {
		own := append(slices.Clone(path), string(name))
		if property.Kind() != '{' {
			return nil
		}
		if header, _ := jsonobject.Text(jsonobject.At(property, "x-mcp-header")); grammar.IsToken(header) && !jsonobject.IsString(jsonobject.At(property, "type"), "number") {
			mirrors = append(mirrors, Argument{wire.CanonicalName(mcp.HeaderParamPrefix + header), own})
		}
		mirrors = append(mirrors, argumentsIn(property, own)...)
		return nil
	})
	return mirrors
}

// Check refuses a call whose header does not repeat the argument that it mirrors.
func (m Argument) Check(body []byte, h *wire.Header) *mcp.Error {
	argument, err := m.argument(body)
	if err != nil {
		return mcp.ErrMismatch(m.Header + " mirrors an argument beside which a name is there twice")
	}
	raw, present, ok := mcp.SingleHeader(h, m.Header)
	if argument == nil || argument.Kind() == 'n' {
		if present {
			return mcp.ErrMismatch(m.Header + " mirrors what is not in the body")
		}
		return nil
	}
	if !ok || !present {
		return mcp.ErrMismatch(m.Header + " is missing, or there are several")
	}
	value, ok := mcp.DecodeName(raw)
	if !ok {
		return mcp.ErrMismatch(m.Header + " holds no valid base64")
	}
	if same, _ := mirrors(value, argument); !same {
		return mcp.ErrMismatch(m.Header + " is not the argument in the body")
	}
	return nil
}

// argument is what the header repeats, nil if it is not there. It fails where one of the objects on the way there has two members of
// one name: readers differ in which of them counts.
func (m Argument) argument(body []byte) (jsontext.Value, error) {
	value := jsonobject.At(body, "params", "arguments")
	for _, name := range m.path {
		if value.Kind() != '{' {
			return nil, nil
		}
		found, err := jsonobject.Loose(value, name)
		if err != nil {
			return nil, err
		}
		value = found[0]
	}
	return value, nil
}
