package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// An eventStream writes server-sent events and flushes each. After the first
// failed write the client is gone and the rest is dropped.
type eventStream struct {
	w      http.ResponseWriter
	flush  *http.ResponseController
	name   string // prefix of the event ids, unique to the stream
	events int
	err    error
}

// openStream sends the headers. X-Accel-Buffering keeps intermediaries from
// holding events back (2026-07-28 streamable-http, "Receiving Messages").
func openStream(w http.ResponseWriter, name string) *eventStream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &eventStream{w: w, flush: http.NewResponseController(w), name: name}
}

// prime gives the client an event id to resume from, with no data
// (2025-11-25 transports, "Sending Messages to the Server", item 6).
func (e *eventStream) prime() { e.event(nil) }

func (e *eventStream) comment(text string) { e.write(fmt.Appendf(nil, ": %s\n\n", text)) }

func (e *eventStream) send(m message) { e.event(encode(m)) }

// sendIndented spreads the message over several data lines, which readers of
// event streams must join again.
func (e *eventStream) sendIndented(m message) {
	var indented bytes.Buffer
	if err := json.Indent(&indented, encode(m), "", " "); err != nil {
		e.err = err
		return
	}
	e.event(indented.Bytes())
}

func (e *eventStream) event(data []byte) {
	out := fmt.Appendf(nil, "id: %s-%d\n", e.name, e.events)
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		out = fmt.Appendf(out, "data: %s\n", line)
	}
	e.events++
	e.write(append(out, '\n'))
}

func (e *eventStream) write(p []byte) {
	if e.err != nil {
		return
	}
	if _, e.err = e.w.Write(p); e.err == nil {
		e.err = e.flush.Flush()
	}
}

// encode is for messages made in this package: they always have a JSON form.
func encode(m message) []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("fleet: encoding a message: %v", err))
	}
	return b
}
