package mcp

import (
	"bytes"
	"iter"
)

// Messages yields the JSON-RPC messages in data: data itself, or the members of a
// batch (2025-03-26) as far as they are whole.
func Messages(data []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '[' {
			yield(data)
			return
		}
		dec := newDecoder(data)
		if _, err := dec.ReadToken(); err != nil {
			return
		}
		for dec.PeekKind() == '{' {
			value, err := dec.ReadValue()
			if err != nil || !yield(value) {
				return
			}
		}
	}
}

// OwnMeta returns the `_meta` of a modern request that berth makes itself: the
// version that the caller speaks, and the Tasks extension declared.
func OwnMeta(version string) map[string]any {
	return map[string]any{
		metaVersion:                          version,
		"io.modelcontextprotocol/clientInfo": map[string]any{"name": "berth", "version": "1"},
		metaCapabilities:                     map[string]any{"extensions": map[string]any{TasksExtension: struct{}{}}},
	}
}
