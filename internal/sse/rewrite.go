package sse

import "bytes"

// WithData returns an event with other data, not empty; every other byte stays, but for a byte order mark before it. One without data
// stays as it is.
func WithData(raw, data []byte) []byte { return WithTag(raw, data, "") }

// WithTag returns an event, or its beginning, with data, unless that is nil, and with tag before its id.
func WithTag(raw, data []byte, tag string) []byte {
	written, raw := false, unmarked(raw)
	out := make([]byte, 0, len(raw)+len(data)+len(tag)+16)
	for len(raw) > 0 {
		line, end := cutLine(raw)
		raw = raw[len(line)+len(end):]
		named, value := field(line)
		switch name := string(named); {
		case name == "id" && tag != "" && len(value) > 0 && len(end) > 0:
			out = append(append(append(append(out, "id: "...), tag...), value...), end...)
		case name == "data" && written: // it stands in the first one
		case name == "data" && data != nil:
			written = true
			begin := []byte("data: ")
			if bytes.HasPrefix(line, []byte("data:")) && !bytes.HasPrefix(line, begin) && !bytes.HasPrefix(data, []byte(" ")) {
				begin = begin[:len("data:")] // as its server writes it
			}
			for part := range bytes.SplitSeq(data, []byte("\n")) {
				out = append(append(append(out, begin...), part...), end...)
			}
		default:
			out = append(append(out, line...), end...)
		}
	}
	return out
}

// WithoutID returns an event, or its beginning, without its id.
func WithoutID(raw []byte) []byte {
	raw = unmarked(raw)
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		line, end := cutLine(raw)
		n := len(line) + len(end)
		if name, _ := field(line); string(name) != "id" {
			out = append(out, raw[:n]...)
		}
		raw = raw[n:]
	}
	return out
}
