package sse

import (
	"bytes"
	"strconv"
	"time"
)

// Event is one event of a text/event-stream (WHATWG HTML, "Server-sent events"), or a piece of a
// long one. Its slices are valid until the next call of Next.
type Event struct {
	Raw  []byte // the bytes as they came, with the empty line that ends the event; or an LF that came late (see Next)
	Data []byte // the data lines of a message, joined by newlines; nil if there is none
	Cut  bool   // Raw is only the beginning of the event: Data holds what came so far
	Tail bool   // Raw continues an event that was cut; Data is nil
	Ends bool   // Raw ends with the empty line that ends an event

	first bool // of the stream
}

// ID returns the id of the event, from which a client would resume; "" if it has none.
func (e Event) ID() string {
	id, raw := "", e.Raw
	if e.first {
		raw = unmarked(raw)
	}
	for line := range lines(raw) {
		if name, value := field(line); string(name) == "id" && !bytes.ContainsRune(value, 0) {
			id = string(value)
		}
	}
	return id
}

// Retry returns how long a client is to wait before it resumes, if the event says so; else 0.
func (e Event) Retry() (wait time.Duration) {
	for line := range lines(e.Raw) {
		name, value := field(line)
		if ms, err := strconv.ParseUint(string(value), 10, 31); string(name) == "retry" && err == nil {
			wait = time.Duration(ms) * time.Millisecond
		}
	}
	return wait
}

// DataOf returns the data of an event of another type than "message", such as "endpoint"
// (2024-11-05, transports, "HTTP with SSE"); nil if the event is not of that type or has none.
func (e Event) DataOf(kind string) []byte {
	data, is := typedData(unmarked(e.Raw))
	if string(is) != kind {
		return nil
	}
	return data
}

// EndOfData returns the end of an event's data by the last bytes of the event, of which the first are data.
func EndOfData(raw []byte) []byte {
	var data []byte
	isFirst := true
	for line := range lines(raw) {
		name, value := field(line)
		switch {
		case isFirst:
			data = bytes.Clone(line)
		case string(name) == "data":
			data = append(append(data, '\n'), value...)
		}
		isFirst = false
	}
	return data
}

// unmarked is how a stream begins without a byte order mark, which is no part of it.
func unmarked(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\ufeff")) }

// eventData joins the data of an event. Those of other types than "message" carry no messages.
func eventData(raw []byte) []byte {
	data, kind := typedData(raw)
	if len(kind) > 0 && string(kind) != "message" {
		return nil
	}
	return data
}

func typedData(raw []byte) (data, kind []byte) {
	fields := 0
	for line := range lines(raw) {
		name, value := field(line)
		switch string(name) {
		case "event":
			kind = value
		case "data":
			if fields == 0 {
				data = value[:len(value):len(value)] // appending must not write into raw
			} else {
				data = append(append(data, '\n'), value...)
			}
			fields++
		}
	}
	if len(data) == 0 {
		data = nil
	}
	return data, kind
}
