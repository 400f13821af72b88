package wire

import "net/textproto"

// Header maps header names, in canonical form ("Mcp-Session-Id"), to their values. A name
// with a nil value means, of an answer, that whoever sends it must not make up one.
type Header map[string][]string

// Get returns the first value of a header, "" if it has none.
func (h Header) Get(name string) string {
	if values := h.Values(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// Lacks reports whether a header, whose name is given in canonical form, is not there, or empty.
func (h Header) Lacks(canonical string) bool {
	values := h[canonical]
	return len(values) == 0 || values[0] == ""
}

// Values returns all values of a header, which belong to h. Nearly all names are spelled as h spells them.
func (h Header) Values(name string) []string {
	if values, ok := h[name]; ok {
		return values
	}
	if canonical := textproto.CanonicalMIMEHeaderKey(name); canonical != name {
		return h[canonical]
	}
	return nil
}

// Set replaces the values of a header by one.
func (h Header) Set(name, value string) { textproto.MIMEHeader(h).Set(name, value) }

// Add appends a value to those of a header.
func (h Header) Add(name, value string) { textproto.MIMEHeader(h).Add(name, value) }

// Del removes a header.
func (h Header) Del(name string) { textproto.MIMEHeader(h).Del(name) }

// Clone returns a copy that shares nothing with h. The copied values lie together, each
// list cut to its length, so that what is added to one is not added to the next.
func (h Header) Clone() Header {
	if h == nil {
		return nil
	}
	lines := 0
	for _, values := range h {
		lines += len(values)
	}
	all := make([]string, 0, lines)
	clone := make(Header, len(h)+6) // room for what is added on the way
	for name, values := range h {
		if values == nil {
			clone[name] = nil
			continue
		}
		begin := len(all)
		all = append(all, values...)
		clone[name] = all[begin:len(all):len(all)]
	}
	return clone
}

// CanonicalName is how h spells a name.
func CanonicalName(name string) string { return textproto.CanonicalMIMEHeaderKey(name) }
