package mcp

import (
	"strings"

	"berth/internal/wire"
)

// routing is what the headers say that a message is routed by, read in one pass.
type routing struct{ version, method, name headerValue }

// headerValue is the one value of a header. Where there are several that differ, it is "".
type headerValue struct {
	value            string
	present, differs bool
}

func routingOf(h *wire.Header) (r routing) {
	fields := h.Fields()
	for i := range fields {
		switch f := &fields[i]; {
		case !strings.HasPrefix(f.Name, "Mcp-"): // as all of these begin
		case f.Name == HeaderVersion:
			r.version.add(f.Value)
		case f.Name == HeaderMethod:
			r.method.add(f.Value)
		case f.Name == HeaderName:
			r.name.add(f.Value)
		}
	}
	return r
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
