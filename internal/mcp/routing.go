package mcp

import (
	"slices"
	"strings"

	"berth/internal/wire"
)

// routing is what the headers say that a message is routed by, read in one pass.
type routing struct {
	version, method, name headerValue
	mirrors               bool // there are headers that mirror a tool's parameters
}

// headerValue is the one value of a header. Where there are several that differ, it is "".
type headerValue struct {
	value            string
	present, differs bool
}

func routingOf(h *wire.Header) (r routing) {
	fields := h.Fields()
	for i := range fields {
		switch f := &fields[i]; {
		case usualElsewhere[f.Usual], !strings.HasPrefix(f.Name, headerPrefix):
		case f.Name == HeaderVersion:
			r.version.add(f.Value)
		case f.Name == HeaderMethod:
			r.method.add(f.Value)
		case f.Name == HeaderName:
			r.name.add(f.Value)
		case strings.HasPrefix(f.Name, HeaderParamPrefix):
			r.mirrors = true
		}
	}
	return r
}

// headerPrefix begins the headers of MCP.
const headerPrefix = "Mcp-"

// usualElsewhere are usual headers that are none of MCP's.
var usualElsewhere = wire.UsualsThat(func(name string) bool { return !strings.HasPrefix(name, headerPrefix) })

// hasForeignBytes reports whether a header that mirrors the body holds more than it may. None has several values that differ, and
// blanks around one are in order.
func (r *routing) hasForeignBytes(h *wire.Header) bool {
	if hasForeignBytes(r.version.value) || hasForeignBytes(r.method.value) || hasForeignBytes(r.name.value) {
		return true
	}
	return r.mirrors && slices.ContainsFunc(h.Fields(), func(f wire.Field) bool {
		return strings.HasPrefix(f.Name, HeaderParamPrefix) && hasForeignBytes(f.Value)
	})
}

func (v *headerValue) add(value string) {
	value = wire.Trim(value)
	switch {
	case !v.present:
		v.value, v.present = value, true
	case v.differs || v.value != value:
		v.value, v.differs = "", true
	}
}
