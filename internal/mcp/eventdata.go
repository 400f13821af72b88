package mcp

import "bytes"

// WithData returns the bytes of an event with data, which is not empty, for its own;
// every other byte stays as it came. An event without data stays as it is.
func WithData(raw, data []byte) []byte { return rewriteEvent(raw, data, "") }

// rewriteEvent returns the bytes of an event with data for its own, unless that is nil,
// and tag before its id.
func rewriteEvent(raw, data []byte, tag string) []byte {
	written := false
	out := make([]byte, 0, len(raw)+len(data)+len(tag)+16)
	for len(raw) > 0 {
		line, end := cutLine(raw)
		raw = raw[len(line)+len(end):]
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch name := string(field); {
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

func cutLine(raw []byte) (line, end []byte) {
	n := bytes.IndexAny(raw, "\r\n")
	if n < 0 {
		return raw, nil
	}
	width := 1
	if bytes.HasPrefix(raw[n:], []byte("\r\n")) {
		width = 2
	}
	return raw[:n], raw[n : n+width]
}
