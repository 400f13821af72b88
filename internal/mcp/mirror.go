package mcp

import (
	"slices"

	"berth/internal/h1/grammar"
	"berth/internal/jsonobject"
	"berth/internal/jsonscan"
	"berth/internal/wire"

	"github.com/go-json-experiment/json/jsontext"
)

// Mirror is an argument of a tool that a header repeats, by an x-mcp-header in the tool's schema
// (2026-07-28, Streamable HTTP, "Schema Extension").
type Mirror struct {
	Header string   // in full
	path   []string // of the property, from the arguments on
}

// maxSchemaDepth bounds how deep annotations are looked for.
const maxSchemaDepth = 16

// AddMirrors notes, by tool, what the result of a tools/list says of headers.
func AddMirrors(tools map[string][]Mirror, result []byte) {
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
		if mirrors := mirrorsIn(values[1], nil); len(mirrors) > 0 {
			tools[name] = mirrors
		} else {
			delete(tools, name)
		}
	}
}

// mirrorsIn is what a schema says of headers. What no header can carry, and numbers, which need not be integers, have none.
func mirrorsIn(schema jsontext.Value, path []string) (mirrors []Mirror) {
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
			mirrors = append(mirrors, Mirror{wire.CanonicalName(HeaderParamPrefix + header), own})
		}
		mirrors = append(mirrors, mirrorsIn(property, own)...)
		return nil
	})
	return mirrors
}

// Check refuses a call whose header does not repeat the argument that it mirrors.
func (m Mirror) Check(body []byte, h *wire.Header) *Error {
	argument := jsonobject.At(body, append([]string{"params", "arguments"}, m.path...)...)
	raw, present, ok := single(h, m.Header)
	if argument == nil || argument.Kind() == 'n' {
		if present {
			return errMismatch(m.Header + " mirrors what is not in the body")
		}
		return nil
	}
	if !ok || !present {
		return errMismatch(m.Header + " is missing, or there are several")
	}
	value, ok := decodeName(raw)
	if !ok {
		return errMismatch(m.Header + " holds no valid base64")
	}
	if same, _ := mirrors(value, argument); !same {
		return errMismatch(m.Header + " is not the argument in the body")
	}
	return nil
}
