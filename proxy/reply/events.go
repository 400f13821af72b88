package reply

import (
	"bufio"
	"bytes"
	"io"

	"berth/internal/mcp"
)

// OwnStreamHeaders sets the headers of an event stream that berth itself begins.
func (w *Writer) OwnStreamHeaders() {
	h := w.Client.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
}

// WriteEvent writes a message as an event, flushed. A large one is no copy.
func (w *Writer) WriteEvent(message mcp.Parts) error {
	if message.Len() <= writeAtOnce {
		return w.WriteThrough(Event(message.Bytes()))
	}
	out := bufio.NewWriterSize(bodyWriter{w}, writeAtOnce)
	if err := writeEvent(out, message); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return w.Flush()
}

// bodyWriter is the answer's body as an io.Writer.
type bodyWriter struct{ w *Writer }

// Write implements io.Writer.
func (b bodyWriter) Write(data []byte) (int, error) {
	if err := b.w.Write(data); err != nil {
		return 0, err
	}
	return len(data), nil
}

// Comment is what an idle event stream gets, so that nobody on the way takes it
// for dead.
var Comment = []byte(":\n\n")

// Event wraps a message as one event, with a data line for each of its own.
func Event(message []byte) []byte {
	var out bytes.Buffer
	out.Grow(len("event: message\ndata: \n\n") + len(message))
	_ = writeEvent(&out, mcp.Parts{message}) // a buffer takes all
	return out.Bytes()
}

// textWriter is what events are written to.
type textWriter interface {
	io.Writer
	io.StringWriter
}

// writeEvent writes a message as one event, as event wraps it.
func writeEvent(out textWriter, message mcp.Parts) error {
	_, _ = out.WriteString("event: message") // what is wrong shows in the end
	ends := true                             // a line does, and the next one is not begun
	for _, part := range message {
		for len(part) > 0 {
			n := bytes.IndexAny(part, "\r\n")
			if n == 0 {
				ends, part = true, part[1:]
				continue
			}
			if n < 0 {
				n = len(part)
			}
			if ends {
				_, _ = out.WriteString("\ndata: ")
			}
			if _, err := out.Write(part[:n]); err != nil {
				return err
			}
			ends, part = false, part[n:]
		}
	}
	_, err := out.WriteString("\n\n")
	return err
}
